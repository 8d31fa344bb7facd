package main_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/queue/queuetest/broker"
	"mlframework/sweep/task"
)

// What waits in a queue that is purged or deleted is sent again.
func TestQueueLost(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*broker.Broker, testing.TB, string, string){
		"purged":  (*broker.Broker).Purge,
		"deleted": (*broker.Broker).DeleteQueue,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, b := open(t), shared.Get(t)
			c := newCluster(t, s)
			w1 := c.worker("w1", s)
			w1.kill() // the master does not know yet
			id := c.sweep("short", short, 3)
			c.stands(id, core.Counts{task.Queued: 3})
			waiting := fmt.Sprintf(
				`{ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"%s">>, queue, <<"tasks.w1">>)), rabbit_amqqueue:stat(Q)`, s.vhost)
			eventually(t, patience, "3 tasks are in the queue", func() bool {
				return strings.HasPrefix(b.Eval(t, waiting), "{ok, {ok, 3,")
			})
			lose(b, t, s.vhost, "tasks.w1")
			w1.start()
			c.ended(patience, id)
			c.succeeded(id)
			if !said(c.master, "are sent again")() {
				t.Error("the tasks were not sent again, or the master does not say so")
			}
			c.verify() // no task began twice
		})
	}
}

// Queues are purged and deleted, and then the broker comes back with nothing: what was lost is sent
// again.
func TestBrokerEmptied(t *testing.T) {
	t.Parallel()
	random := choices(t)
	b, s := ownBroker(t)
	s.lease = lease
	c := newCluster(t, s)
	c.three(s)
	id := c.sweep("short", short, int64(most(200, 2000)))
	for n := 0; n < most(6, 40) && c.pace(time.Duration(100+random.IntN(200))*time.Millisecond,
		id); n++ {
		lose(t, random, b)
	}
	// What was on its way through the broker is lost: a result that the master has not got is one
	// that nobody has.
	c.fault("", "the broker lost everything", func() {
		b.Reset(t)
		c.ready("w1", "w2", "w3")
	})
	c.ended(sweepTime(), id)
	c.succeeded(id)
	c.verify()
}

// lose purges or deletes the queue of a worker, if it is there: one that was deleted is, as soon as
// anybody needs it.
func lose(t testing.TB, random *rand.Rand, b *broker.Broker) {
	t.Helper()
	queue := []string{"tasks.w1", "tasks.w2", "tasks.w3"}[random.IntN(3)]
	do := []string{`rabbit_amqqueue:purge(Q)`,
		`rabbit_amqqueue:delete(Q, false, false, <<"test">>)`}[random.IntN(2)]
	b.Eval(t,
		fmt.Sprintf(
			`case rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, <<"%s">>)) of {ok, Q} -> %s; _ -> none end`, queue, do))
}

// A worker that is killed while it ends what a program left has told how the program ended: it does
// not run again.
func TestKilledAmongLeftovers(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	w1 := c.worker("w1", s)
	sub := c.submission("leaves", "(trap '' TERM; exec setsid sleep 400) &", 1)
	sub.Record.Recipe.Grace = 10 * time.Minute
	id := c.submit(sub)
	c.ended(patience, id)
	if len(attempts(c.dir)) == 0 {
		t.Error("nothing is left of it")
	}
	c.crash("w1", w1.guard(), w1.executor())
	c.ready("w1")
	c.succeeded(id)
	c.verify()
}

// The next attempt of a task begins on no host before the processes are gone that the last one left
// on its own.
func TestNoAttemptBesideLeftovers(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	c.worker("w1", s)
	sub := c.submission("leaves", `test "$ATTEMPT" = 1 || exit 0
(trap '' TERM; exec setsid sleep 400) &
exit 3`, 1)
	sub.Record.Retry.Error, sub.Record.Recipe.Grace = 1, 5*time.Second
	id := c.submit(sub)
	eventually(t, patience, "the first attempt has ended", func() bool {
		return c.stored(id).Head.Rows[task.Pending] == 1
	})
	if _, err := c.client.Drain(t.Context(), "w1", false); err != nil {
		t.Fatal(err)
	}
	c.worker("w2", s)
	beside := 0
	eventually(t, patience, "it has ended", func() bool {
		text, _ := os.ReadFile(c.path("starts"))
		if first := attempts(c.dir); strings.Count(string(text), "\n") > 1 && len(first) > 0 &&
			first[0].Attempt == 1 {
			beside++
		}
		return c.over(id)
	})
	if len(attempts(c.dir)) > 0 || beside > 0 {
		t.Errorf("the second attempt began beside the first one's leftovers: %v", attempts(c.dir))
	}
	c.succeeded(id)
	c.verify()
}
