package worker_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/task"
	"mlframework/sweep/worker/process"
)

func TestEachAttemptHasItsGPU(t *testing.T) {
	onCards(t, gpus(gpu(0), gpu(1)), func(t *testing.T, s *site, c *cards, p *programs) {
		s.send(each(0, 1), each(2, 3))
		p.running(t, "at first", "0: GPU-0", "1: GPU-1")
		c.set(gpus(gpu(0, busy), gpu(1, busy))) // by the attempts
		time.Sleep(30 * time.Second)
		p.running(t, "later", "0: GPU-0", "1: GPU-1")
		c.set(gpus(gpu(0), gpu(1)))
		time.Sleep(30*time.Second + time.Millisecond)
		p.running(t, "then", "2: GPU-0", "3: GPU-1")
		for i := range int64(4) {
			s.ended(i, 1)
		}
		if diff := cmp.Diff(map[string]int{"GPU-0": 1, "GPU-1": 1}, p.most); diff != "" {
			t.Error(diff)
		}
	})
}

// What an attempt left behind may still use its GPU: it is given out when that has ended.
func TestLeftoversKeepTheirGPU(t *testing.T) {
	leaves := func(_ context.Context, spec process.Spec) process.Exit {
		if variable(spec.Env, "TASK_INDEX") == "0" {
			spec.Ended(process.Exit{})
			time.Sleep(time.Minute)
		}
		return process.Exit{}
	}
	onCards(t, gpus(gpu(0)), func(t *testing.T, s *site, _ *cards, _ *programs) {
		s.send(using(1, "GPU-0", 0, 1))
		time.Sleep(50 * time.Second)
		if got := kinds(s.soFar()); slices.Contains(got, "started 1/1") {
			t.Error(got)
		}
		time.Sleep(11 * time.Second)
		ended, began := s.seen(task.EndedEvent, 0, 1), s.seen(task.StartedEvent, 1, 1)
		if waited := began.Time.Sub(ended.Time); waited < time.Minute {
			t.Errorf("the next starts %v after the end", waited)
		}
	}, fake(leaves))
}

func TestSharesOfAGPU(t *testing.T) {
	onCards(t, gpus(gpu(0)), func(t *testing.T, s *site, c *cards, p *programs) {
		quarters := using(0.25, "GPU-0", 2, 4)
		quarters.Sweep = "train-2"
		s.send(using(0.5, "GPU-0", 0, 1), quarters, batch("", 3))
		p.running(t, "at first", "0: GPU-0", "1: GPU-0", "3:")
		c.set(gpus(gpu(0, busy))) // by the attempts
		time.Sleep(6 * time.Second)
		c.mu.Lock()
		c.hangs = true // a share of a GPU that others have is given out without a look
		c.mu.Unlock()
		s.tell(stopOf(0))
		p.running(t, "when one has ended", "1: GPU-0", "2: GPU-0", "3:", "4: GPU-0")
	})
}
