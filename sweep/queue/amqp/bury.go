package amqp

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
)

// Bounds of what is kept of messages that cannot be read, so that no worker drives the dead letters
// of others out of the queue: of each message its beginning, in bytes, and of each worker so many,
// until a person requeues or drops letters. The rest is only counted.
const (
	mostKept    = 4 << 10
	mostLetters = 100
)

// buried counts the dead letters of each worker. The zero value is ready.
type buried struct {
	mu sync.Mutex
	of map[string]int
}

// add counts one and reports whether it is to be kept.
func (b *buried) add(worker string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of[worker] >= mostLetters {
		return false
	}
	if b.of == nil {
		b.of = map[string]int{}
	}
	b.of[worker]++
	return true
}

func (b *buried) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.of)
}

// putAside is a message that a worker could not read, as it reported it.
type putAside struct{ letter }

func (p *putAside) Error() string { return p.reason }

// decodeLetter reads what a worker put aside.
func decodeLetter(d *amqp091.Delivery) ([]struct{}, error) {
	return nil, &putAside{letterOf(d, "")}
}

// write makes a dead letter of a message of a feed that cannot be read, counts and logs it. Keep is
// false when its sender has enough of them.
func (e *end) write(name, from string, d *amqp091.Delivery, why error) (l letter, body []byte,
	keep bool) {
	l = letter{from: from, reason: why.Error(), time: time.Now()}
	l.of = origin{d.UserId, d.RoutingKey}
	aside, reported := errors.AsType[*putAside](why)
	if reported {
		l = aside.letter
	}
	// the broker lets no worker use a key with another name
	_, worker, _ := strings.Cut(d.RoutingKey, ".")
	if keep = e.buried.add(worker); !reported || !keep {
		e.refuse(name, d, why)
	}
	if l.size = len(d.Body); l.size > mostKept && l.cut == "" {
		l.cut = fmt.Sprintf("%x", sha256.Sum256(d.Body))
	}
	return l, d.Body[:min(l.size, mostKept)], keep
}

// bury puts a message that cannot be read to the dead letters: until that is confirmed it is tried
// again. It is false when the consumer is over before, and the message comes again.
func (s *session[T]) bury(ctx context.Context, d *amqp091.Delivery, why error) bool {
	l, body, keep := s.end.write(s.feed.name, s.feed.from, d, why)
	for p := (pause{}); keep; p.wait(ctx) {
		err := s.end.post(ctx, s.feed.aside, body, l.headers())
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
	return true
}

// post keeps a message with headers.
func (e *end) post(ctx context.Context, to route, body []byte, headers amqp091.Table) error {
	if len(body) > mostSent { // of an earlier program: the broker would end the connection
		return fmt.Errorf("it is %d bytes long; at most %d can be sent", len(body), mostSent)
	}
	return e.publisher.ask(ctx, &request{to: to, bodies: [][]byte{body}, headers: headers})
}
