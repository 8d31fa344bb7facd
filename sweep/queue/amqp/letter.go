package amqp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
)

// letter is what is said of a dead message.
type letter struct {
	from   string // queue
	reason string
	time   time.Time
}

// The headers of a dead letter, and those that a broker adds.
const (
	fromHeader   = "from"
	reasonHeader = "reason"
	timeHeader   = "time"
	deathHeader  = "x-death"          // of what the broker put aside: a table for each queue and reason, the newest first
	countHeader  = "x-delivery-count" // how often a quorum queue has delivered it in vain
)

func (l *letter) headers() amqp091.Table {
	return amqp091.Table{fromHeader: l.from, reasonHeader: l.reason, timeHeader: l.time.UTC().Format(time.RFC3339Nano)}
}

// letterOf reads what is said of a dead message: by this program, or by the broker.
func letterOf(d *amqp091.Delivery) (l letter) {
	at, _ := d.Headers[timeHeader].(string)
	l.time, _ = time.Parse(time.RFC3339Nano, at)
	l.from, _ = d.Headers[fromHeader].(string)
	l.reason, _ = d.Headers[reasonHeader].(string)
	deaths, _ := d.Headers[deathHeader].([]any)
	if l.from != "" || len(deaths) == 0 {
		return l
	}
	death, _ := deaths[0].(amqp091.Table)
	l.from, _ = death["queue"].(string)
	why, _ := death["reason"].(string)
	l.reason = "the broker put it aside: " + strings.ReplaceAll(why, "_", " ")
	if at, ok := death["time"].(time.Time); ok {
		l.time = at.UTC()
	}
	return l
}

// id is the same whenever a letter is looked at.
func (l *letter) id(body []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%d\n", l.from, l.time.UnixNano())
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// shown is a letter as the contract has it.
func (l *letter) shown(body []byte) queue.Letter {
	return queue.Letter{ID: l.id(body), From: l.from, Reason: l.reason, Time: l.time, Size: len(body),
		Head: append([]byte(nil), body[:min(len(body), queue.HeadBytes)]...)}
}

// post keeps a message with what is said of it, in the queue of the dead or, nil, without.
func (e *end) post(ctx context.Context, to string, body []byte, l *letter) error {
	return e.publisher.ask(ctx, &request{queue: to, bodies: [][]byte{body}, letter: l})
}

// bury puts a message that cannot be read to the dead letters: until that is confirmed it is tried again. It is false when
// the consumer is over before, and the message comes again.
func (s *session[T]) bury(ctx context.Context, d *amqp091.Delivery, why error) bool {
	if !s.feed.keep {
		return true
	}
	var p pause
	for l := (letter{s.feed.name, why.Error(), time.Now()}); ; p.wait(ctx) {
		err := s.end.post(ctx, deadQueue, d.Body, &l)
		if !errors.Is(err, queue.ErrAway) {
			return true
		}
		select {
		case <-s.consumer.gone:
			return false
		case <-s.consumer.stop:
			return false
		case <-ctx.Done():
			return false
		default:
		}
	}
}
