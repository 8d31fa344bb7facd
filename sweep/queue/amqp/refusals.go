package amqp

import (
	"sync"
	"time"

	"github.com/rabbitmq/amqp091-go"
)

// refusals counts messages that were put aside. The zero value is ready.
type refusals struct {
	mu   sync.Mutex
	all  int64
	said map[string]time.Time // by queue
	more map[string]int64     // since then
}

func (r *refusals) count() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}

// add counts one and reports whether it is worth a line of the log, and how many before it were not: whoever sends such
// messages must not fill the log with them.
func (r *refusals) add(queue string, now time.Time) (say bool, unsaid int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all++
	if r.said == nil {
		r.said, r.more = map[string]time.Time{}, map[string]int64{}
	}
	if last, ok := r.said[queue]; ok && now.Sub(last) < sayAgain {
		r.more[queue]++
		return false, 0
	}
	unsaid = r.more[queue]
	r.said[queue], r.more[queue] = now, 0
	return true, unsaid
}

// refuse counts a message that cannot be read, and logs it.
func (e *end) refuse(queue string, d *amqp091.Delivery, why error) {
	if say, unsaid := e.refused.add(queue, time.Now()); say {
		e.log.Error("a message is put aside", "queue", queue, "user", cut(d.UserId, 200), "key", cut(d.RoutingKey, 200), "bytes", len(d.Body), "cause", why.Error(), "more since the last", unsaid)
	}
}

// cut is the first bytes of a text.
func cut(text string, most int) string { return text[:min(len(text), most)] }
