package worker_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/nvdocker"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
	"mlframework/sweep/worker/process"
)

// cards are the GPUs of a host, as looks find them.
type cards struct {
	mu     sync.Mutex
	report nvdocker.Report
	err    error
	looks  []time.Time
	hangs  bool // looks do not end by themselves
}

func (c *cards) look(ctx context.Context) (nvdocker.Report, error) {
	c.mu.Lock()
	c.looks = append(c.looks, time.Now())
	report, err, hangs := c.report, c.err, c.hangs
	c.mu.Unlock()
	if hangs {
		<-ctx.Done()
		err = ctx.Err()
	}
	return report, err
}

func (c *cards) set(r nvdocker.Report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report = r
}

// since returns how long before now looks began, of those that began after a time.
func (c *cards) since(begin time.Time) (all []time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, at := range c.looks {
		if !at.Before(begin) {
			all = append(all, at.Sub(begin))
		}
	}
	return all
}

// programs are the attempts that run: each for a minute, or until it is stopped.
type programs struct {
	mu   sync.Mutex
	runs map[string][]string // GPUs by task, as it sees them
	most map[string]int      // how many ran on a GPU at a time
}

func (p *programs) run(ctx context.Context, spec process.Spec) process.Exit {
	id, list := variable(spec.Env, "TASK_INDEX"), variable(spec.Env, "GPU_UUIDS")
	var all []string
	if list != "" {
		all = strings.Split(list, ",")
	}
	p.mu.Lock()
	p.runs[id] = all
	for _, g := range all {
		n := 0
		for _, others := range p.runs {
			if slices.Contains(others, g) {
				n++
			}
		}
		p.most[g] = max(p.most[g], n)
	}
	p.mu.Unlock()
	exit := process.Exit{}
	select {
	case <-time.After(time.Minute):
	case <-ctx.Done():
		exit = process.Exit{Cause: process.Stopped, Code: -1}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.runs, id)
	return exit
}

// now returns the tasks that run with their GPUs: "0: GPU-0".
func (p *programs) now() (all []string) {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, g := range p.runs {
		all = append(all, strings.TrimSpace(id+": "+strings.Join(g, " ")))
	}
	slices.Sort(all)
	return all
}

// variable returns the value of a variable, with ! where it is not there exactly once.
func variable(environ []string, name string) (value string) {
	n := 0
	for _, v := range environ {
		if have, text, _ := strings.Cut(v, "="); have == name {
			n, value = n+1, text
		}
	}
	if n != 1 {
		return "!"
	}
	return value
}

// onCards tests a worker of a cluster with four slots on a host with these GPUs.
func onCards(t *testing.T, r nvdocker.Report, test func(*testing.T, *site, *cards, *programs),
	change ...func(*worker.Options)) {
	t.Helper()
	p := &programs{runs: map[string][]string{}, most: map[string]int{}}
	bubble(t, p.run, func(t *testing.T, s *site) {
		c := &cards{report: r}
		s.stop()
		s.options.Slots, s.options.GPUs, s.options.HideGPUs = 4, c.look, true
		for _, f := range change {
			f(&s.options)
		}
		s.start(s.queue.Worker("w1"))
		test(t, s, c, p)
	})
}

// using returns a batch whose tasks each have a share of the same GPUs, "GPU-0 GPU-1".
func using(share float64, uuids string, indexes ...int64) task.Batch {
	b := batch("", indexes...)
	b.Slots, b.Reserved, b.Recipe.GPUs = 1, true, task.GPUs{Count: share}
	for i := range b.Attempts {
		b.Attempts[i].Share = share
		for _, uuid := range strings.Fields(uuids) {
			b.Attempts[i].Devices = append(b.Attempts[i].Devices, task.Device{UUID: uuid})
		}
	}
	return b
}

// each returns a batch whose tasks have a GPU each: the first has GPU-0.
func each(indexes ...int64) task.Batch {
	b := using(1, "", indexes...)
	for i := range b.Attempts {
		b.Attempts[i].Devices = []task.Device{{UUID: fmt.Sprintf("GPU-%d", i)}}
	}
	return b
}

// running compares what runs now.
func (p *programs) running(t *testing.T, when string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, p.now()); diff != "" {
		t.Errorf("%s: %s", when, diff)
	}
}

// local makes a worker one that runs beside its user's other programs.
func local(o *worker.Options) { o.HideGPUs = false }
