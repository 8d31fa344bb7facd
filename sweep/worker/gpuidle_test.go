package worker_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"mlframework/nvdocker"
	"mlframework/sweep/task"
	"mlframework/sweep/worker/process"
)

// used returns what makes a GPU one that is used for some percent of the time.
func used(percent int) func(*nvdocker.GPU) {
	return func(g *nvdocker.GPU) { g.Utilization = percent }
}

// An attempt fails whose GPUs are all used for less than its definition says, for so long without
// a break.
func TestAttemptsWhoseGPUsAreIdle(t *testing.T) {
	limit := task.Idle{Below: 5, For: 6 * time.Minute}
	type at struct {
		minute time.Duration // after the start
		report nvdocker.Report
	}
	both := func(first, second int) nvdocker.Report {
		return gpus(gpu(0, used(first)), gpu(1, used(second)))
	}
	for _, c := range []struct {
		name  string
		limit task.Idle
		found []at
		ended time.Duration // minutes after the start; 0: it is not
	}{
		{"from the start", limit, []at{{0, both(0, 4)}}, 6},
		{"from the second minute", limit, []at{{0, both(90, 90)}, {2, both(0, 0)}}, 8},
		{"but for a while", limit, []at{{0, both(0, 0)}, {4, both(0, 9)}, {5, both(0, 0)}}, 11},
		{"but for what is not known", limit, []at{{0, both(0, 0)}, {4, hangs}, {5, both(0, 0)}},
			11},
		{"one of them", limit, []at{{0, both(0, 90)}}, 0},
		{"one after the other", limit, []at{{0, both(0, 90)}, {4, both(90, 0)}, {8, both(0, 90)}},
			0},
		{"not below", limit, []at{{0, both(5, 5)}}, 0},
		{"not known", limit, []at{{0, both(nvdocker.Unknown, nvdocker.Unknown)}}, 0},
		{"no limit", task.Idle{}, []at{{0, both(0, 0)}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			stops := func(ctx context.Context, _ process.Spec) process.Exit {
				<-ctx.Done()
				return process.Exit{Cause: process.Stopped, Code: -1, Err: context.Cause(ctx)}
			}
			onCards(t, c.found[0].report, func(t *testing.T, s *site, cards *cards, _ *programs) {
				b := using(1, "GPU-0 GPU-1", 0)
				b.Recipe.Idle = c.limit
				s.send(b)
				began := s.seen(task.StartedEvent, 0, 1).Time
				for _, f := range c.found {
					time.Sleep(time.Until(began.Add(f.minute * time.Minute)))
					cards.set(f.report)
				}
				time.Sleep(time.Until(began.Add(14 * time.Minute)))
				if c.ended == 0 {
					if got := kinds(s.soFar()); slices.Contains(got, "ended 0/1") {
						t.Error(got)
					}
					return
				}
				o, after := s.ended(0, 1), s.seen(task.EndedEvent, 0, 1).Time.Sub(began)
				const looks = 15 * time.Second // three of them: a limit lies between two
				if o.Class != task.Error || o.Reason != "idle: GPU use below 5% for 6m0s" ||
					after < c.ended*time.Minute || after > c.ended*time.Minute+looks {
					t.Errorf("%s, %q, after %v", o.Class, o.Reason, after)
				}
			}, fake(stops))
		})
	}
}
