package monitor_test

import (
	"testing"
	"time"

	"mlframework/sweep/monitor"
	"mlframework/sweep/queue"
)

// rabbit is the status of a broker.
type rabbit struct{ is queue.Status }

func (r *rabbit) Status() queue.Status { return r.is }

// connectedRabbit is a broker that is there, and refused messages.
func connectedRabbit() *rabbit {
	return &rabbit{queue.Status{Program: "RabbitMQ 4.2.0", Since: time.Now().Add(-2 * time.Hour),
		Refused: 7}}
}

// restartWith starts the master again, with a broker.
func (s *site) restartWith(b *rabbit) {
	s.end()
	s.broker = b
	s.start()
}

// The page of the broker says how it stands; without one there is no way to it.
func TestBrokerPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.enter(monitor.Viewer)
	p := v.get("/broker")
	has(t, p, "There is no broker")
	lacks(t, p, `href="/broker"`, "Queues", "No alarms")
	lacks(t, v.get("/sweeps"), `href="/broker"`)

	with := newSite(t)
	with.restartWith(connectedRabbit())
	with.hire("w1", "gpu1", 1, hold)
	v = with.enter(monitor.Viewer)
	p = v.get("/broker")
	has(t, p, `aria-current="page">Broker`, `RabbitMQ 4.2.0, <span class="state state-ready">`+
		`connected</span> for <span>2h00m</span>`, "7 messages could not be read",
		"<code>check-status --logs master</code>", "<code>events</code>",
		"what workers report of their tasks")
	lacks(t, p, "No alarms")
	with.until("the worker has its queue", func() bool {
		return len(rows(v.get("/broker"))) == 3
	})
	has(t, v.get("/broker"), "tasks for w1")
	has(t, v.get("/sweeps"), `href="/broker"`)

	for want, status := range map[string]queue.Status{
		`state-away">away</span>`: {Unreachable: true, Reason: "connection refused"},
		`state-busy">takes no messages</span>`: {Program: "RabbitMQ 4.2.0",
			Blocked: "low on disk<b>"},
	} {
		s := newSite(t)
		s.restartWith(&rabbit{status})
		p := s.enter(monitor.Viewer).get("/broker")
		has(t, p, want, "<code>check-status --logs broker</code>")
		lacks(t, p, "<b>\"", "disk<b>")
	}
}

// Queues that nobody reads are told, and how fast a queue grows or shrinks.
func TestQueues(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
	none, one := 0, 1
	look := func(events, tasks int) []queue.Depth {
		return []queue.Depth{{Queue: "tasks.gpu1", Messages: tasks, Consumers: &none},
			{Queue: "tasks.gpu2", Consumers: &one}, {Queue: "events", Messages: events,
				Consumers: &one, Unacked: &one}}
	}
	lines := monitor.Queues([]time.Duration{0, 10 * time.Second, 20 * time.Second}, at,
		look(0, 40), look(100, 30), look(400, 20))
	for i, want := range []string{
		"1 of 2 workers connected",
		"tasks.gpu1: 20 −1.0/s, readers 0, delivered ",
		"tasks.gpu2: 0 , readers 1, delivered ",
		"events: 400 +20/s, readers 1, delivered 1",
		"alarm: tasks.gpu1 not read: 20 messages wait, and nobody reads them: " +
			"check-status --logs gpu1",
	} {
		if i >= len(lines) || lines[i] != want {
			t.Fatalf("%q, want %q", lines, want)
		}
	}
}
