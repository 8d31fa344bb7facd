package main_test

import (
	"testing"

	"mlframework/sweep/api"
	"mlframework/sweep/queue/amqp"
	"mlframework/sweep/task"
)

// A message that a worker cannot read is a dead letter: it is listed, also by the next process of
// the master, requeued, dead again as another one, and dropped.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	c.worker("w1", s)
	hub, err := amqp.NewMasterEndpoint(amqp.Options{URL: s.url, Credentials: s.broker.Master(t,
		s.vhost)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hub.Close)
	body := []byte("not a batch")
	eventually(t, patience, "it is sent", func() bool {
		sent, err := hub.Requeue(t.Context(), &task.DeadLetter{Queue: "tasks.w1", Size: len(body),
			Body: body})
		return sent && err == nil
	})
	first := c.dead("")
	if first.From != "tasks.w1" || first.Preview != string(body) || first.Bytes != len(body) ||
		first.Time == nil || first.Reason == "" {
		t.Errorf("the dead letter is %+v", first)
	}
	c.master.kill()
	c.master.start()
	if again := c.dead(""); again.ID != first.ID || again.Reason != first.Reason ||
		!again.Time.Equal(*first.Time) {
		t.Errorf("after a restart it is %+v; want %+v", again, first)
	}
	var done api.DeadLetterOutcome
	eventually(t, patience, "it is requeued", func() bool { // the broker may not yet be reached
		done, err = c.client.Requeue(t.Context(), first.ID)
		return err == nil
	})
	if want := (api.DeadLetterOutcome{Requeued: 1}); done != want {
		t.Errorf("requeued: %+v", done)
	}
	second := c.dead(first.ID)
	if second.From != "tasks.w1" || second.Preview != string(body) {
		t.Errorf("it is dead again as %+v", second)
	}
	if done, err = c.client.Drop(t.Context(), second.ID); err != nil || done.Dropped != 1 {
		t.Errorf("dropped: %+v, %v", done, err)
	}
	if all, err := c.client.Dead(t.Context(), 0); err != nil || all.Count != 0 {
		t.Errorf("then there are %+v, %v", all, err)
	}
	if b, err := c.client.BrokerQueues(t.Context()); err != nil || b.Queues[3].Queue != "dead" ||
		b.Queues[3].Messages != 0 {
		t.Errorf("the broker has %+v, %v", b, err)
	}
}

// dead waits until there is one dead letter, which has another ID than that before.
func (c *cluster) dead(before string) (l api.DeadLetter) {
	c.t.Helper()
	eventually(c.t, patience, "a message is dead", func() bool {
		all, err := c.client.Dead(c.t.Context(), 0)
		if err != nil || all.Count != 1 || all.Entries[0].ID == before {
			return false
		}
		l = all.Entries[0]
		return true
	})
	return l
}
