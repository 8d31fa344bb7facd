package amqp_test

import (
	"strings"
	"testing"

	"mlframework/sweep/queue/amqp"
)

// A worker that is started before its master, or with another one's credentials, says so and waits.
func TestAWorkerWaitsForItsMasterAndItsOwnUser(t *testing.T) {
	t.Parallel()
	s := &site{broker: shared.Get(t), vhost: shared.Vhost(t)}
	s.options = amqp.Options{URL: s.broker.URL[:len(s.broker.URL)-1] + "/" + s.vhost, Log: logTo(t)}
	p, err := amqp.NewWorkerEndpoint("w1", s.of(t, "w1"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	batches := p.Consume(t.Context())
	says := func(p *amqp.WorkerEndpoint, want string) {
		t.Helper()
		waitFor(t, "it says "+want, func() bool {
			return p.Status().Unreachable &&
				strings.Contains(p.Status().Reason, want)
		})
	}
	says(p, "the master has not made what is needed there")
	other := s.of(t, "w2")
	stranger, err := amqp.NewWorkerEndpoint("w1", other)
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	says(stranger, "is that of user worker-w2; worker w1 needs its own, of user worker-w1")
	hub := openAt(t, s.broker, s.vhost)
	if err := hub.hub.Publish(t.Context(), "w1", batch(1)); err != nil {
		t.Fatal(err)
	}
	next(t, batches, 1)
}
