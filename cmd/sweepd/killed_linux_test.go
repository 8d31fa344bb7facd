package main_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"mlframework/sweep/queue/queuetest/broker"
)

// sweepTime bounds a sweep of short tasks among faults.
func sweepTime() time.Duration { return time.Duration(most(2, 8)) * time.Minute }

// choices is a source of random choices. A test that fails names its seed, which repeats them.
func choices(t *testing.T) *rand.Rand {
	seed, err := strconv.ParseUint(os.Getenv("FAULTS_SEED"), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano())
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("FAULTS_SEED=%d repeats the choices of this run", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

// pace waits for a while between two faults; false when the sweep ended meanwhile.
func (c *cluster) pace(d time.Duration, id string) bool {
	c.t.Helper()
	return !becomes(d, func() bool { return c.over(id) })
}

// Workers are killed again and again, one of their processes or both, and come back: every task
// ends once.
func TestWorkersKilled(t *testing.T) {
	t.Parallel()
	random := choices(t)
	s := open(t)
	c := newCluster(t, s)
	c.three(s)
	id := c.sweep("short", short, int64(most(200, 2000)))
	kills := 0
	for ; kills < most(12, 60) && c.pace(time.Duration(100+random.IntN(400))*time.Millisecond,
		id); kills++ {
		name := fmt.Sprintf("w%d", 1+random.IntN(3))
		d := c.workers[name]
		victims := [][]int{{d.guard()}, {d.executor()}, {d.guard(), d.executor()}}[random.IntN(3)]
		c.crash(name, victims...)
	}
	c.ended(sweepTime(), id)
	c.succeeded(id)
	c.verify()
	t.Logf("%d kills", kills)
}

// The master is killed and comes back: nothing starts again.
func TestMasterKilled(t *testing.T) {
	t.Parallel()
	random := choices(t)
	s := open(t)
	c := newCluster(t, s)
	c.three(s)
	id := c.sweep("short", short, int64(most(200, 2000)))
	kills := 0
	for ; kills < most(3, 10) && c.pace(time.Duration(200+random.IntN(600))*time.Millisecond,
		id); kills++ {
		c.master.kill()
		c.master.start()
	}
	c.ended(sweepTime(), id)
	c.succeeded(id)
	c.verify()
	t.Logf("%d kills", kills)
}

// ownBroker starts a broker that a test may take down.
func ownBroker(t *testing.T) (*broker.Broker, site) {
	t.Helper()
	b := broker.Start(t, broker.Options{})
	return b, site{t: t, broker: b, url: b.URL, vhost: "/"}
}

// The broker crashes and comes back: nothing starts again.
func TestBrokerKilled(t *testing.T) {
	t.Parallel()
	random := choices(t)
	b, s := ownBroker(t)
	c := newCluster(t, s)
	c.three(s)
	id := c.sweep("short", short, int64(most(200, 2000)))
	kills := 0
	for ; kills < 3 && c.pace(time.Duration(200+random.IntN(600))*time.Millisecond, id); kills++ {
		b.Kill(t)
		if random.IntN(2) == 0 { // the longer it is away, the more the workers have to say
			c.pace(3*time.Second, id)
		}
		b.Up(t)
		up, before := time.Now(), c.stored(id).Head.Counts().Done()
		// The last may have ended before the broker did.
		eventually(t, patience, "tasks end again", func() bool {
			return c.stored(id).Head.Counts().Done() > before || c.over(id)
		})
		t.Logf("tasks end again %v after the broker is back",
			time.Since(up).Round(time.Millisecond))
	}
	c.ended(sweepTime(), id)
	c.succeeded(id)
	c.verify()
	t.Logf("%d kills", kills)
}
