package amqp

import (
	"context"
	"crypto/rand"
	"strconv"
	"strings"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue/rights"
	"mlframework/sweep/task"
)

// Live output is bounded from end to end: the master acknowledges lines as it reads them, its queue
// on the broker holds few, the broker refuses what does not fit, and a worker whose message was
// refused offers it again. Meanwhile its own buffer is full, Show returns false, and the caller
// counts the lines that it leaves out.
const (
	// maxUnsentLines bounds lines that were shown and are not yet sent.
	maxUnsentLines = 1024
	// maxLinesPerMessage is how many of them travel in one message, if they are there.
	maxLinesPerMessage = 256
	// maxLinesBytes is about how long such a message gets.
	maxLinesBytes = 60 << 10
	// maxQueuedLinesBytes bounds the messages that a master's queue of a worker's lines holds, in
	// bytes.
	maxQueuedLinesBytes = 1 << 20
	// lineRetryDelay is how long after a refusal a message is offered again.
	lineRetryDelay = 20 * time.Millisecond
)

// sendLines sends what is shown until ctx ends. What cannot be sent because of an outage is lost.
func sendLines(ctx context.Context, p *publisher, to route, shown <-chan task.Line) {
	var (
		lines []task.Line
		port  = strings.ToLower(rand.Text())
		sent  uint64
	)
	for {
		select {
		case l := <-shown:
			lines = append(lines[:0], l)
		case <-ctx.Done():
			return
		}
		lines = gatherLines(lines, shown)
		bodies, err := task.EncodeAll("lines", lines, maxLinesBytes,
			maxBytesFrom[rights.Lines]-len("[]"))
		clear(lines)
		if err != nil {
			continue // a line that is longer than any that a worker shows
		}
		for _, body := range bodies {
			sent++
			m := transient(body)
			m.MessageId = port + "." + strconv.FormatUint(sent, 10)
			p.publishLines(ctx, to, m)
		}
	}
}

// gatherLines adds what is there already.
func gatherLines(lines []task.Line, shown <-chan task.Line) []task.Line {
	for len(lines) < maxLinesPerMessage {
		select {
		case l := <-shown:
			lines = append(lines, l)
		default:
			return lines
		}
	}
	return lines
}

// publishLines publishes a message of lines and waits until every master's queue has taken it, or
// the connection is over.
func (p *publisher) publishLines(ctx context.Context, to route, m amqp091.Publishing) {
	for {
		s := p.current.Load()
		if s == nil {
			return
		}
		taken, err := s.offerLines(ctx, to, m)
		if taken || err != nil {
			return
		}
		pause := time.NewTimer(lineRetryDelay)
		select {
		case <-pause.C:
		case <-s.done:
			pause.Stop()
			return
		case <-ctx.Done():
			pause.Stop()
			return
		}
	}
}

// offerLines publishes a message of lines once and reports whether it was taken: not while the
// broker accepts no messages, nor when a queue of lines is full.
func (s *connPublisher) offerLines(ctx context.Context, to route, m amqp091.Publishing) (taken bool,
	err error) {
	if s.blockedBy() != "" {
		return false, nil
	}
	m.UserId = s.conn.user
	confirm, err := s.lines.PublishWithDeferredConfirm(to.exchange, to.key, false, false, m)
	if err != nil {
		return false, err
	}
	select {
	case <-confirm.Done():
		return confirm.Acked(), nil
	case <-s.done:
		return false, amqp091.ErrClosed
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// linesLimits bounds a queue of lines. That is an argument and not a policy, as the queue is this
// connection's own and counting what is lost depends on it.
var linesLimits = amqp091.Table{"x-max-length-bytes": int64(maxQueuedLinesBytes),
	"x-overflow": "reject-publish"}

// maxLineSenders is how many endpoints' newest messages of lines are remembered: each start of a
// worker has its own.
const maxLineSenders = 1 << 12

// withoutRepeats returns a decoder of messages of lines that leaves out those that it has read. A
// worker offers a message again when any of several queues refused it: that of a master whose
// connection is dead may be full.
func withoutRepeats(decode func(*amqp091.Delivery) ([]task.Line, error)) func(*amqp091.Delivery) (
	[]task.Line, error) {
	type port struct{ user, id string }
	last := map[port]uint64{} // the newest message
	return func(d *amqp091.Delivery) ([]task.Line, error) {
		id, text, _ := strings.Cut(d.MessageId, ".")
		if n, err := strconv.ParseUint(text, 10, 64); err == nil && len(id) <= 64 {
			from := port{d.UserId, id}
			if n <= last[from] {
				return nil, nil
			}
			if len(last) >= maxLineSenders {
				clear(last)
			}
			last[from] = n
		}
		return decode(d)
	}
}
