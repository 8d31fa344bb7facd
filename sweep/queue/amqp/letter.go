package amqp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
	"mlframework/sweep/queue/rights"
)

// letter is what is said of a dead message.
type letter struct {
	from   string // as in queue.Letter
	reason string
	time   time.Time
	of     origin // who sent the message
	size   int    // of the message, in bytes
	cut    string // the SHA-256 of the message, where only its beginning is kept
	before bool   // a program of the version before put it here, which does not say who
}

// The headers of a dead letter, beside those of its origin, and those that a broker adds.
const (
	fromHeader   = "from"
	reasonHeader = "reason"
	timeHeader   = "time"
	sizeHeader   = "size" // with the next: of a message of which only the beginning is kept
	cutHeader    = "sha256"
	deathHeader  = "x-death"          // of what the broker put aside: a table for each queue and reason, the newest first
	countHeader  = "x-delivery-count" // how often a quorum queue has delivered it in vain
)

// longestSaid bounds the texts that a worker says of a dead letter, in bytes, and longestHash a
// hash.
const (
	longestSaid = 1 << 10
	longestHash = 64
)

func (l *letter) headers() amqp091.Table {
	h := amqp091.Table{fromHeader: l.from, reasonHeader: cut(l.reason, longestSaid), timeHeader: l.time.UTC().Format(time.RFC3339Nano)}
	if l.cut != "" {
		h[sizeHeader], h[cutHeader] = int64(l.size), l.cut
	}
	if l.before {
		return h
	}
	for key, value := range l.of.headers() {
		h[key] = value
	}
	return h
}

// letterOf reads what is said of a dead message: by the master, whose user is self, by a worker, or by the broker. What a
// worker puts aside can only be from its own queues, whatever it says.
func letterOf(d *amqp091.Delivery, self string) (l letter) {
	at, _ := d.Headers[timeHeader].(string)
	l.time, _ = time.Parse(time.RFC3339Nano, at)
	l.from, _ = d.Headers[fromHeader].(string)
	l.reason, _ = d.Headers[reasonHeader].(string)
	l.reason = strings.ToValidUTF8(cut(l.reason, longestSaid), "")
	l.size = len(d.Body)
	if l.cut, _ = d.Headers[cutHeader].(string); l.cut != "" {
		l.cut = strings.ToValidUTF8(cut(l.cut, longestHash), "")
		if size, ok := d.Headers[sizeHeader].(int64); ok && size > int64(l.size) {
			l.size = int(size)
		}
	}
	if d.Exchange == rights.FromWorkers { // whatever its key and its headers say: those name other queues, too (CC, BCC)
		worker, _ := rights.UserOf(d.UserId)
		if l.from != rights.ControlQueue(worker) {
			l.from = rights.TasksQueue(worker)
		}
		l.of = origin{d.UserId, d.RoutingKey}
		return l
	}
	deaths, _ := d.Headers[deathHeader].([]any)
	if len(deaths) == 0 || l.from != "" && d.UserId == self { // what the broker put aside has the headers that its sender gave it
		l.of, l.before = originOf(d, self)
		l.before = l.before || d.UserId == "" // programs before said no user
		return l
	}
	death, _ := deaths[0].(amqp091.Table)
	l.from, _ = death["queue"].(string)
	if l.from == rights.EventsQueue {
		l.from = eventsName
	}
	why, _ := death["reason"].(string)
	l.reason = "the broker put it aside: " + strings.ReplaceAll(why, "_", " ")
	if at, ok := death["time"].(time.Time); ok {
		l.time = at.UTC()
	}
	first := *d // with the key that it had
	if keys, _ := death["routing-keys"].([]any); len(keys) > 0 {
		first.RoutingKey, _ = keys[0].(string)
	}
	l.of, l.before = originOf(&first, self)
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
	reason := l.reason
	if l.cut != "" {
		reason += fmt.Sprintf(" (its first %d bytes are kept; its SHA-256 is %s)", len(body), l.cut)
	}
	return queue.Letter{ID: l.id(body), From: l.from, Reason: reason, Time: l.time, Size: l.size,
		Head: append([]byte(nil), body[:min(len(body), queue.HeadBytes)]...)}
}
