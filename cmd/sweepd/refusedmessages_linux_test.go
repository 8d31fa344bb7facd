package main_test

import (
	"testing"

	"mlframework/sweep/queue/amqp"
	"mlframework/sweep/task"
)

// What a worker sends in the name of another one changes nothing and holds up nothing: it is
// counted, and in the master's log.
func TestRefusedMessages(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	c.worker("w1", s)
	forger, err := amqp.NewWorkerEndpoint("w1", amqp.Options{URL: s.url,
		Credentials: s.broker.Worker(t, s.vhost, "w1")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(forger.Close)
	id := c.sweep("short", short, 3)
	eventually(t, patience, "it is sent", func() bool {
		return forger.Emit(t.Context(), task.Event{Version: task.Version, Kind: task.EndedEvent,
			Worker: "w2", Sweep: id, Attempt: 1}) == nil
	})
	c.ended(patience, id)
	c.succeeded(id)
	eventually(t, patience, "it is counted", func() bool {
		b, err := c.client.BrokerQueues(t.Context())
		return err == nil && b.Refused != nil && *b.Refused == 1 && len(b.Queues) == 3
	})
	if !said(c.master, "a message is refused")() {
		t.Errorf("the master says\n%s", c.master.said())
	}
	c.verify()
}
