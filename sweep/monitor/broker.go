package monitor

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/human"
)

// brokerRefresh is how often the page of the broker asks for its queues.
const brokerRefresh = 5 * time.Second

// brokerView is how the master reaches its broker.
type brokerView struct {
	None        bool // the master has no broker
	State, Tone string
	Since       *time.Time
	For         string // how long it is so
	Program     string
	Alarms      []alarm
	Queues      []queueLine // none: they cannot be asked now
	Connected   string      // "3 of 4 workers connected"; "": not known
}

// queueLine is a queue in words.
type queueLine struct {
	Name, What       string
	Messages         int64
	Change           string // of Messages, by what the monitor saw: "+1.2/s"; "": none, or not known
	Unacked, Readers string // "": not known
	Alone            bool   // messages wait, and nobody reads them
}

func (m *Monitor) loadBroker(r *request) (*content, error) {
	b, err := ask(r.Context(), m.answers, "broker", r.version, m.o.Master.BrokerQueues)
	if err != nil {
		return nil, err
	}
	m.depths.observe(b.asOf, b.value.Queues)
	c := m.warned(r, &content{title: "Broker", asOf: b.asOf, view: m.broker(b.value, b.asOf)})
	if !isBrokerless(b.value) {
		c.refresh = brokerRefresh
	}
	return c, nil
}

// broker returns in words how the master reaches its broker.
func (m *Monitor) broker(b api.Broker, now time.Time) brokerView {
	if isBrokerless(b) {
		return brokerView{None: true}
	}
	v := brokerView{State: "connected", Tone: "ready", Since: b.Since, Program: text(b.Program)}
	log := logsRemedy("broker")
	switch {
	case b.Unreachable:
		v.State, v.Tone = "away", "away"
		v.Alarms = append(v.Alarms, alarm{What: "broker", State: "away", Text: text(b.Reason),
			Remedy: log})
	case b.Blocked != nil:
		v.State, v.Tone = "takes no messages", "busy"
		v.Alarms = append(v.Alarms, alarm{What: "broker", State: "blocked", Text: text(b.Blocked),
			Remedy: log})
	}
	if b.Since != nil {
		v.For = ago(now.Sub(*b.Since))
	}
	workers, connected, known := 0, 0, true
	for _, q := range b.Queues {
		l := m.queueLine(q)
		v.Queues = append(v.Queues, l)
		if worker, ok := strings.CutPrefix(q.Queue, tasksQueue); ok {
			workers++
			if known = known && q.Consumers != nil; known && *q.Consumers > 0 {
				connected++
			}
			log = logsRemedy(worker)
		} else {
			log = logsRemedy("master")
		}
		if l.Alone {
			v.Alarms = append(v.Alarms, alarm{What: l.Name, State: "not read",
				Text:   human.Plural(l.Messages, "message") + " wait, and nobody reads them",
				Remedy: log})
		}
	}
	if known && workers > 0 {
		v.Connected = strconv.Itoa(connected) + " of " + human.Plural(int64(workers), "worker") +
			" connected"
	}
	if b.Refused != nil && *b.Refused > 0 {
		v.Alarms = append(v.Alarms, alarm{What: "messages", State: "refused",
			Text: human.Plural(*b.Refused, "message") + " could not be read, or came from another " +
				"worker than they named, since the master started", Remedy: logsRemedy("master")})
	}
	return v
}

// isBrokerless reports whether a master runs without a broker, as on one machine.
func isBrokerless(b api.Broker) bool { return b.Program == nil && !b.Unreachable }

// tasksQueue is how the names of queues with the tasks of a worker begin.
const tasksQueue = "tasks."

func (m *Monitor) queueLine(q api.QueueDepth) queueLine {
	l := queueLine{Name: human.Visible(q.Queue), Messages: int64(q.Messages),
		Change: m.depths.change(q.Queue)}
	if worker, ok := strings.CutPrefix(q.Queue, tasksQueue); ok {
		l.What = "tasks for " + human.Visible(worker)
	} else {
		l.What = map[string]string{"events": "what workers report of their tasks",
			"heartbeats": "signs of life of workers"}[q.Queue]
	}
	if q.Unacked != nil {
		l.Unacked = count(int64(*q.Unacked))
	}
	if q.Consumers != nil {
		l.Readers = count(int64(*q.Consumers))
		l.Alone = *q.Consumers == 0 && q.Messages > 0
	}
	return l
}

// text returns a text for people; "": there is none.
func text(t *string) string {
	if t == nil {
		return ""
	}
	return human.Truncate(human.Visible(*t))
}

// depths remembers how much waited in each queue, as often as somebody looked. The zero value is
// ready.
type depths struct {
	mu  sync.Mutex
	all map[string][]sample
}

// observe notes what waits now.
func (d *depths) observe(at time.Time, queues []api.QueueDepth) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.all
	d.all = map[string][]sample{}
	for _, q := range queues {
		samples := before[q.Queue]
		if n := len(samples); n > 0 && at.Sub(samples[n-1].at) < sampleInterval {
			d.all[q.Queue] = samples
			continue
		}
		for len(samples) > 0 && at.Sub(samples[0].at) > throughputWindow {
			samples = samples[1:]
		}
		d.all[q.Queue] = append(samples, sample{at, int64(q.Messages)})
	}
}

// change returns how fast a queue grew or shrank of late; "": it did not, or that is not known yet.
func (d *depths) change(name string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	samples := d.all[name]
	if len(samples) < 2 {
		return ""
	}
	first, last := samples[0], samples[len(samples)-1]
	span, more := last.at.Sub(first.at), last.ended-first.ended
	switch {
	case span < minThroughputWindow || more == 0:
		return ""
	case more < 0:
		return "−" + rateText(float64(-more)/span.Seconds())
	}
	return "+" + rateText(float64(more)/span.Seconds())
}

// brokerless is whether the master has a broker, which is asked once.
type brokerless struct{ known, none atomic.Bool }

// learnBroker asks whether the master has a broker, until that is known.
func (m *Monitor) learnBroker(ctx context.Context) {
	if m.brokerless.known.Load() {
		return
	}
	b, err := ask(ctx, m.answers, "has broker", 0, m.o.Master.Broker)
	if err == nil && !b.value.Unreachable {
		m.brokerless.none.Store(isBrokerless(b.value))
		m.brokerless.known.Store(true)
	}
}
