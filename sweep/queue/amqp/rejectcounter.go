package amqp

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"github.com/rabbitmq/amqp091-go"
)

// rejectCounter counts messages that were refused. The zero value is ready.
type rejectCounter struct {
	mu       sync.Mutex
	total    int64
	loggedAt map[string]time.Time // by queue
	unlogged map[string]int64     // since then
}

func (r *rejectCounter) count() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total
}

// add counts one and reports whether it is worth a line of the log, and how many before it were
// not: whoever sends such messages must not fill the log with them.
func (r *rejectCounter) add(queue string, now time.Time) (say bool, unsaid int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total++
	if r.loggedAt == nil {
		r.loggedAt, r.unlogged = map[string]time.Time{}, map[string]int64{}
	}
	if last, ok := r.loggedAt[queue]; ok && now.Sub(last) < logInterval {
		r.unlogged[queue]++
		return false, 0
	}
	unsaid = r.unlogged[queue]
	r.loggedAt[queue], r.unlogged[queue] = now, 0
	return true, unsaid
}

// refuse counts and logs a message that cannot be read. It is acknowledged like others, so that it
// holds up nothing; whoever has the message knows it by its hash.
func (e *endpoint) refuse(queue string, d *amqp091.Delivery, why error) {
	if say, unsaid := e.rejects.add(queue, time.Now()); say {
		e.log.Error("a message is refused", "queue", queue, "user", truncate(d.UserId, 200),
			"key", truncate(d.RoutingKey, 200), "bytes", len(d.Body),
			"sha256", fmt.Sprintf("%.8x", sha256.Sum256(d.Body)), "cause", why.Error(),
			"more since the last", unsaid)
	}
}

// truncate is the first bytes of a text.
func truncate(text string, most int) string { return text[:min(len(text), most)] }
