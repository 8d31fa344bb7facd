package amqp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue/rights"
	"mlframework/sweep/task"
)

// Headers of a dead letter on the broker, and those that the broker adds.
const (
	fromHeader     = "from"
	reasonHeader   = "reason"
	timeHeader     = "time"
	sizeHeader     = "size" // with the next: of a message of which only the beginning is kept
	hashHeader     = "sha256"
	requeuedHeader = "requeued" // of a message that was requeued: the ID of its dead letter
	// of what the broker put aside: a table for each queue and reason, the newest first
	deathHeader = "x-death"
)

// Bounds of a dead letter, in bytes: of a message that could not be read its beginning is kept, so
// that no worker fills the store. The others bound the texts that a worker says of it.
const (
	maxKeptBytes   = 4 << 10
	maxReasonBytes = 1 << 10
	maxHashBytes   = 64
)

// unknownSender is the worker whose dead letters those are that the broker put aside and for whom
// it does not vouch: together they are bounded like those of one worker. No worker has this name.
const unknownSender = "-"

// newDeadLetter returns the dead letter of a message of a queue that cannot be read.
func newDeadLetter(queue string, d *amqp091.Delivery, sender task.Sender,
	why error) task.DeadLetter {
	l := task.DeadLetter{Queue: queue, Reason: truncate(why.Error(), maxReasonBytes),
		Time: time.Now().UTC(), Sender: sender, Size: len(d.Body)}
	// the broker lets no worker use a key with another name
	_, l.Worker, _ = strings.Cut(sender.Key, ".")
	var hash string
	if l.Body, hash = beginning(d.Body); hash != "" {
		l.Reason += keptNote(l.Body, hash)
	}
	l.ID = deadLetterID(queue, "", d)
	return l
}

// beginning returns what is kept of a message that cannot be read, and the message's SHA-256; ""
// where the whole message is kept.
func beginning(body []byte) (kept []byte, hash string) {
	if len(body) <= maxKeptBytes {
		return body, ""
	}
	return append([]byte(nil), body[:maxKeptBytes]...), fmt.Sprintf("%x", sha256.Sum256(body))
}

func keptNote(body []byte, hash string) string {
	return fmt.Sprintf(" (its first %d bytes are kept; its SHA-256 is %s)", len(body), hash)
}

// deadLetterID returns the ID of a dead letter, which depends on what is the same in every
// delivery.
func deadLetterID(queue, died string, d *amqp091.Delivery) string {
	requeued, _ := d.Headers[requeuedHeader].(string)
	h := sha256.New()
	for _, text := range []string{queue, died, d.UserId, d.Exchange, d.MessageId, requeued} {
		fmt.Fprintf(h, "%q\n", text)
	}
	h.Write(d.Body)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// reportHeaders are the headers with which a worker reports a message of a queue that it could not
// read.
func reportHeaders(queue string, why error, size int, hash string) amqp091.Table {
	h := amqp091.Table{fromHeader: queue, reasonHeader: truncate(why.Error(), maxReasonBytes),
		timeHeader: time.Now().UTC().Format(time.RFC3339Nano)}
	if hash != "" {
		h[sizeHeader], h[hashHeader] = int64(size), hash
	}
	return h
}

// readDeadLetter reads a message of a queue of dead letters: one that a worker reported, that the
// broker put aside, or that somebody wrote there as the master, whose user is self.
func readDeadLetter(d *amqp091.Delivery, self string) task.DeadLetter {
	l, fromMaster := task.DeadLetter{Size: len(d.Body), Body: d.Body}, true
	died, _ := d.Headers[timeHeader].(string)
	l.Time, _ = time.Parse(time.RFC3339Nano, died)
	l.Queue, _ = d.Headers[fromHeader].(string)
	l.Reason, _ = d.Headers[reasonHeader].(string)
	hash, _ := d.Headers[hashHeader].(string)
	// whatever its key and headers say: those name other queues, too (CC, BCC)
	reported := d.Exchange == rights.FromWorkers
	deaths, _ := d.Headers[deathHeader].([]any)
	switch {
	case reported:
		fromMaster = false
		_, l.Worker, _ = strings.Cut(d.RoutingKey, ".")
		user, _ := rights.WorkerOfUser(d.UserId)
		if l.Queue != rights.ControlQueue(user) { // a worker reads its own queues only
			l.Queue = rights.TasksQueue(user)
		}
	case len(deaths) > 0 && (l.Queue == "" || d.UserId != self): // not a master's headers
		death, _ := deaths[0].(amqp091.Table)
		died, hash = readDeath(&l, death), ""
		l.Sender = senderOfDead(d, death, self)
		l.Worker, fromMaster = workerOfDead(&l)
	default:
		l.Sender = senderOfDead(d, nil, self)
	}
	if size, ok := d.Headers[sizeHeader].(int64); ok && hash != "" && size > int64(l.Size) {
		l.Size = int(size)
	}
	l.ID = deadLetterID(l.Queue, died, d)
	l.Time = clampTime(l.Time, time.Now())
	if whole := l.Body; !fromMaster {
		var own string
		if l.Body, own = beginning(whole); own != "" && hash == "" {
			hash = own
		}
	}
	l.Reason = strings.ToValidUTF8(truncate(l.Reason, maxReasonBytes), "")
	if hash != "" {
		l.Reason += keptNote(l.Body, strings.ToValidUTF8(truncate(hash, maxHashBytes), ""))
	}
	return l
}

// clampTime returns when something happened that a worker may have put a time to: at the latest
// now, and the zero time where no calendar has it.
func clampTime(at, now time.Time) time.Time {
	switch at = at.UTC(); {
	case at.After(now):
		return now.UTC()
	case at.Year() < 1:
		return time.Time{}
	}
	return at
}

// workerOfDead returns the worker among whose dead letters one that the broker put aside counts, so
// that no worker drives out those of others, and whether the master sent the message: only the
// master sends to the queues of batches and control messages. A worker can make up the key of what
// was put aside (before RabbitMQ 4 the broker keeps that of a message's own x-death), but not the
// user and the queue.
func workerOfDead(l *task.DeadLetter) (worker string, fromMaster bool) {
	if name, ok := rights.WorkerOfUser(l.Sender.User); ok {
		return name, false
	}
	if name, ok := rights.WorkerOfQueue(l.Queue); ok {
		return name, true
	}
	return unknownSender, false
}

// readDeath notes why, when and where from the broker put a message aside. It returns when as text.
func readDeath(l *task.DeadLetter, death amqp091.Table) (died string) {
	l.Queue, _ = death["queue"].(string)
	why, _ := death["reason"].(string)
	l.Reason = "the broker put it aside: " + strings.ReplaceAll(why, "_", " ")
	if at, ok := death["time"].(time.Time); ok {
		l.Time = at.UTC()
	}
	return l.Time.Format(time.RFC3339Nano)
}

// senderOfDead returns who sent a message before it was dead, with the key that it had then.
func senderOfDead(d *amqp091.Delivery, death amqp091.Table, self string) task.Sender {
	first := *d
	if keys, _ := death["routing-keys"].([]any); len(keys) > 0 {
		first.RoutingKey, _ = keys[0].(string)
	}
	return senderOf(&first, self)
}
