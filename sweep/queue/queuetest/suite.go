// Package queuetest is the suite that every implementation of package queue passes: each test holds
// one sentence of the contract.
//
// Only tests of implementations may import it; it imports the contract and its vocabulary,
// sweep/task and sweep/metric.
package queuetest

import (
	"testing"

	"go.uber.org/goleak"

	"mlframework/internal/leaktest"
	"mlframework/sweep/queue"
)

// Fixture is one queue that can be reached and is empty, and what can be done to it. Hub and Port
// are needed; tests of a fault that is nil are skipped.
type Fixture struct {
	Master queue.MasterEndpoint
	Worker func(worker string) queue.WorkerEndpoint

	// makes the queue unreachable for everybody until it is called with false; all know when it
	// returns
	Outage  func(on bool)
	Restart func()              // takes the queue down and up again; it returns when that was done
	Purge   func(worker string) // drops the batches that wait for a worker
}

// contractTest is one test of the contract.
type contractTest struct {
	name     string
	requires func(Fixture) (fault string, there bool) // nil: no fault
	run      func(t *testing.T, f Fixture)
}

func needsOutage(f Fixture) (string, bool)  { return "Outage", f.Outage != nil }
func needsRestart(f Fixture) (string, bool) { return "Restart", f.Restart != nil }
func needsPurge(f Fixture) (string, bool)   { return "Purge", f.Purge != nil }

// Run runs the suite. Open makes the fixture of one test and registers its own clean-up; when that
// is over, no goroutine may be left. The tests run one after the other, so that a leak has one
// owner.
func Run(t *testing.T, open func(t *testing.T) Fixture) {
	t.Helper()
	for _, group := range [][]contractTest{taskTests, eventTests, messageTests, lineTests,
		versionTests, depthTests, streamTests, faultTests} {
		for _, trial := range group {
			t.Run(trial.name, func(t *testing.T) {
				before := goleak.IgnoreCurrent()
				t.Cleanup(func() { leaktest.Verify(t, before) })
				f := open(t)
				if trial.requires != nil {
					if fault, there := trial.requires(f); !there {
						t.Skipf("the fixture has no %s", fault)
					}
				}
				trial.run(t, f)
			})
		}
	}
}
