package main_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"mlframework/sweep/queue/queuetest/broker"
)

// storm is a cluster to which everything happens.
type storm struct {
	*cluster
	random *rand.Rand
	broker *broker.Broker
	wires  map[string]*broker.Proxy // to the broker, by worker
	kinds  map[string]int           // of faults, how many
}

// Faults of all kinds come one after the other: every task ends once.
func TestRandomFaults(t *testing.T) {
	if !long() {
		t.Skip("NOT TESTED: it takes minutes; FAULTS=long runs it")
	}
	t.Parallel()
	b, s := ownBroker(t)
	s.lease = lease
	x := &storm{newCluster(t, s), choices(t), b, map[string]*broker.Proxy{}, map[string]int{}}
	for _, name := range []string{"w1", "w2", "w3"} {
		x.wires[name] = broker.Through(t, s.url)
		x.worker(name, s.through(x.wires[name]))
	}
	id := x.sweep("short", short, 2000)
	for n := 0; n < 60 && x.pace(time.Duration(x.random.IntN(1000))*time.Millisecond, id); n++ {
		x.next()
	}
	x.ended(sweepTime(), id)
	x.succeeded(id)
	x.verify()
	t.Logf("%v", x.kinds)
}

// next lets one fault happen.
func (x *storm) next() {
	x.t.Helper()
	name := fmt.Sprintf("w%d", 1+x.random.IntN(3))
	switch n := x.random.IntN(100); {
	case n < 40:
		x.kinds["worker killed"]++
		d := x.workers[name]
		x.crash(name, d.guard(), d.executor())
	case n < 55:
		x.kinds["master killed"]++
		x.master.kill()
		x.master.start()
	case n < 75:
		x.kinds["queue lost"]++
		lose(x.t, x.random, x.broker)
	case n < 90:
		x.kinds["worker cut off"]++
		x.fault(name, "cut off", func() {
			x.wires[name].Cut()
			// shorter and longer than its lease
			<-time.After(time.Duration(x.random.Int64N(int64(2 * lease))))
			x.wires[name].Heal()
		})
	case n < 97:
		x.kinds["broker killed"]++
		x.broker.Kill(x.t)
		x.broker.Up(x.t)
	default:
		x.kinds["broker emptied"]++
		x.fault("", "the broker lost everything", func() {
			x.broker.Reset(x.t)
			x.ready("w1", "w2", "w3")
		})
	}
}
