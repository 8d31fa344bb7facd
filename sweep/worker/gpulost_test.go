package worker_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/nvdocker"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
	"mlframework/sweep/worker/process"
)

func TestGPULostWhileATaskRuns(t *testing.T) {
	onCards(t, gpus(gpu(0), gpu(1)), func(t *testing.T, s *site, c *cards, p *programs) {
		s.send(each(0, 1), using(1, "GPU-1", 2))
		b := using(1, "GPU-0 GPU-1", 3)
		b.Sweep = "train-2"
		s.send(b)
		p.running(t, "at first", "0: GPU-0", "1: GPU-1")
		c.set(gpus(gpu(1), gpu(0, lost)))
		time.Sleep(30 * time.Second)
		p.running(t, "one is lost", "0: GPU-0", "1: GPU-1")
		beats := s.queue.Heartbeats(t.Context())
		s.skip(beats)
		time.Sleep(40 * time.Second)
		p.running(t, "both have ended", "2: GPU-1")
		if o := s.ended(0, 1); o.Class != task.Success {
			t.Error(o)
		}
		h := <-beats
		var lost []string
		for _, g := range h.GPUs {
			if g.Unavailable != "" {
				lost = append(lost, g.UUID+" "+g.Unavailable)
			}
		}
		if diff := cmp.Diff([]string{"GPU-0 GPU 0000:00:00.0 does not answer: GPU is lost"},
			lost); diff != "" {
			t.Error(diff)
		}
		back := func(e task.Event) bool {
			return e.Kind == task.ReturnedEvent && e.Sweep == "train-2"
		}
		if !slices.ContainsFunc(s.soFar(), back) {
			t.Error("what needs both is not returned")
		}
	})
}

// An attempt that fails because its GPU failed is no failure of its task.
func TestAttemptsThatFailWithTheirGPU(t *testing.T) {
	for _, c := range []struct {
		name   string
		then   nvdocker.Report // just before the end
		hangs  bool
		exit   process.Exit
		class  task.Class
		reason string
		after  time.Duration // the end is told
	}{
		{"its GPU works", gpus(gpu(0), gpu(1)), false, process.Exit{Code: 1}, task.Error,
			"exit code 1", 0},
		{"its GPU is lost", gpus(gpu(1), gpu(0, lost)), false, process.Exit{Code: 1}, task.Loss,
			"infra: its GPU failed: GPU 0000:00:00.0 does not answer: GPU is lost; exit code 1", 0},
		{"it waited for its GPU", gpus(gpu(1)), false,
			process.Exit{Cause: process.TimedOut, Code: -1}, task.Loss,
			"infra: its GPU failed: it does not answer any more; ran longer than 0s", 0},
		{"the container has lost its GPUs", nvdocker.Report{Fault: &nvdocker.Problem{
			Cause: "the container has lost its GPUs"}}, false, process.Exit{Code: 1}, task.Loss,
			"infra: its GPU failed: the container has lost its GPUs; exit code 1", 0},
		{"another is lost", gpus(gpu(0), gpu(1, lost)), false, process.Exit{Code: 1}, task.Error,
			"exit code 1", 0},
		{"others use it, too", gpus(gpu(0, busy), gpu(1)), false, process.Exit{Code: 1}, task.Error,
			"exit code 1", 0},
		{"the driver hangs", gpus(gpu(0), gpu(1)), true, process.Exit{Code: 1}, task.Error,
			"exit code 1", 5 * time.Second},
		{"a success", gpus(gpu(1), gpu(0, lost)), false, process.Exit{}, task.Success, "", 0},
		{"a stop", gpus(gpu(1), gpu(0, lost)), false,
			process.Exit{Cause: process.Stopped, Code: -1}, task.Stopped, "stopped", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			fails := func(context.Context, process.Spec) process.Exit {
				time.Sleep(22 * time.Second)
				return c.exit
			}
			onCards(t, gpus(gpu(0), gpu(1)), func(t *testing.T, s *site, cards *cards, _ *programs) {
				s.send(each(0))
				time.Sleep(21 * time.Second) // after the latest look
				cards.mu.Lock()
				cards.report, cards.hangs = c.then, c.hangs
				cards.mu.Unlock()
				time.Sleep(time.Minute)
				o, began := s.ended(0, 1), s.seen(task.StartedEvent, 0, 1).Time
				told := s.seen(task.EndedEvent, 0, 1).Time.Sub(began) - 22*time.Second
				if o.Class != c.class || o.Reason != c.reason || told != c.after {
					t.Errorf("%s, %q, after %v", o.Class, o.Reason, told)
				}
			}, fake(fails))
		})
	}
}

// A GPU that is lost takes none of the others with it, and lets no other in.
func TestVisibleGPUsWhenOneIsLost(t *testing.T) {
	at := func(index int) func(*nvdocker.GPU) { return func(g *nvdocker.GPU) { g.Index = index } }
	onCards(t, gpus(gpu(0), gpu(1), gpu(2), gpu(3)),
		func(t *testing.T, s *site, c *cards, p *programs) {
			time.Sleep(time.Second)
			c.set(gpus(gpu(0), gpu(2, at(1)), gpu(3, at(2)), gpu(1, lost)))
			s.send(each(0, 1, 2, 3))
			p.running(t, "when GPU 1 is lost", "0: GPU-0", "2: GPU-2")
		}, local, inherit("CUDA_VISIBLE_DEVICES=0,1,2"))
}

// What a worker can never run is returned after a heartbeat that says why.
func TestAttemptsWhoseGPUsAreNotThere(t *testing.T) {
	for name, r := range map[string]nvdocker.Report{"no GPU": {}, "too few": gpus(gpu(0)),
		"a hanging driver": hangs, "not in this worker": {Driver: "-"}} {
		t.Run(name, func(t *testing.T) {
			onCards(t, r, func(t *testing.T, s *site, _ *cards, p *programs) {
				beats := s.queue.Heartbeats(t.Context())
				s.skip(beats)
				s.send(using(1, "GPU-0 GPU-1", 0))
				p.running(t, name)
				s.seen(task.ReturnedEvent, 0, 1)
				if h := <-beats; h.Waiting != 1 || len(h.GPUs) != len(r.GPUs) {
					t.Errorf("%+v", h)
				}
			}, func(o *worker.Options) {
				if r.Driver == "-" {
					o.GPUs = nil
				}
			})
		})
	}
}
