package worker_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
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

// Attempts with GPUs run beside those that have all slots, if nobody chose the slots, and take one
// if somebody did.
func TestSlotsOfAttemptsWithGPUs(t *testing.T) {
	onCards(t, gpus(gpu(0), gpu(1), gpu(2)), func(t *testing.T, s *site, _ *cards, p *programs) {
		free := each(4, 5, 6)
		free.Slots = 0
		s.send(batch("", 0, 1, 2, 3), free)
		p.running(t, "at once", "0:", "1:", "2:", "3:", "4: GPU-0", "5: GPU-1", "6: GPU-2")
		time.Sleep(time.Minute + time.Millisecond)
		s.send(each(11, 12), batch("", 7, 8, 9, 10))
		time.Sleep(time.Second)
		p.running(t, "then", "11: GPU-0", "12: GPU-1", "7:", "8:")
	}, func(o *worker.Options) { o.Slots = 4 })
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

func TestGPUInUseByOthers(t *testing.T) {
	onCards(t, gpus(gpu(0), gpu(1, busy)), func(t *testing.T, s *site, c *cards, p *programs) {
		beats := s.queue.Heartbeats(t.Context())
		s.skip(beats)
		s.send(each(0, 1))
		p.running(t, "while another is busy", "0: GPU-0")
		time.Sleep(4 * time.Second)
		s.skip(beats)
		c.set(gpus(gpu(0, busy), gpu(1)))
		begin := time.Now()
		var told time.Duration
		for h := range beats {
			if len(h.GPUs) == 2 && h.GPUs[1].Unavailable == "" {
				told = h.Time.Sub(begin)
				break
			}
		}
		if looks := c.since(begin); len(looks) == 0 || told != looks[0] || told > 5*time.Second {
			t.Errorf("a heartbeat says that it is free after %v; looks: %v", told, looks)
		}
		p.running(t, "when it is free", "0: GPU-0", "1: GPU-1")
	})
}

// Somebody may have begun to use a GPU since the latest look at it.
func TestGPUsAreLookedAtBeforeAnAttempt(t *testing.T) {
	onCards(t, gpus(gpu(0), gpu(1)), func(t *testing.T, s *site, c *cards, p *programs) {
		time.Sleep(time.Second)
		c.set(gpus(gpu(0, busy), gpu(1)))
		s.send(each(0, 1))
		p.running(t, "when one has come into use", "1: GPU-1")
	}, local)
}

func TestGPUsAreLookedAtBetweenLooks(t *testing.T) {
	onCards(t, gpus(gpu(0), gpu(1), gpu(2)),
		func(t *testing.T, s *site, c *cards, p *programs) {
			s.send(each(0))
			p.running(t, "at first", "0: GPU-0")
			time.Sleep(9 * time.Second) // between looks
			c.set(gpus(gpu(0), gpu(1, busy), gpu(2)))
			s.send(using(1, "GPU-1", 1), using(1, "GPU-2", 2))
			p.running(t, "when one has come into use", "0: GPU-0", "2: GPU-2")
		})
}

// What others use counts by its memory and by their locks, or not at all, as the worker's user says.
func TestWhatKeepsAGPUFromTasks(t *testing.T) {
	little := func(g *nvdocker.GPU) { // a desktop, and a program that computes
		g.Used, g.Processes = 900<<20, []nvdocker.Process{{PID: 412, Memory: 300 << 20}}
	}
	for name, c := range map[string]struct {
		above   int64
		ignored bool
		want    []string
	}{
		"memory":         {0, false, []string{"2: GPU-2"}},
		"little memory":  {300 << 20, false, nil},
		"mine, or locks": {math.MaxInt64, false, []string{"0: GPU-0", "2: GPU-2"}},
		"never":          {math.MaxInt64, true, []string{"0: GPU-0", "1: GPU-1", "2: GPU-2"}},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			onCards(t, gpus(gpu(0, busy), gpu(1), gpu(2, little)),
				func(t *testing.T, s *site, _ *cards, p *programs) {
					lock, err := worker.Acquire(t.Context(),
						filepath.Join(folder, gpuLock("GPU-1")), anna)
					s.must(err)
					s.send(each(0, 1, 2))
					time.Sleep(10 * time.Second)
					p.running(t, name, c.want...)
					s.must(lock.Release())
				}, locking(folder, "w1"), func(o *worker.Options) {
					o.GPUBusyAbove, o.IgnoreGPULocks = c.above, c.ignored
				})
		})
	}
}

// The memory of a program that has ended may stay in use for some time.
func TestMemoryOfAnEndedAttempt(t *testing.T) {
	onCards(t, gpus(gpu(0)), func(t *testing.T, s *site, c *cards, p *programs) {
		s.send(using(1, "GPU-0", 0, 1))
		p.running(t, "at first", "0: GPU-0")
		c.set(gpus(gpu(0, filled)))
		time.Sleep(61 * time.Second)
		p.running(t, "its memory is in use")
		c.set(gpus(gpu(0)))
		time.Sleep(5 * time.Second)
		p.running(t, "its memory is free", "1: GPU-0")
	})
}

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

func TestFirstHeartbeatListsTheGPUs(t *testing.T) {
	onCards(t, gpus(gpu(0, busy), gpu(1, split)),
		func(t *testing.T, s *site, _ *cards, _ *programs) {
			synctest.Wait()
			events := s.all()
			joined := events[len(events)-1]
			want := []task.GPU{
				{UUID: "GPU-0", Index: "0", Name: "NVIDIA L4", Memory: 24 * gib, Used: 6 * gib,
					Unavailable: "busy: ben, python (pid 411), 6.0 GB"},
				{UUID: "MIG-1-0", Index: "1:0", Name: "NVIDIA L4", Memory: 10 * gib, Split: true,
					Used: nvdocker.Unknown, Utilization: nvdocker.Unknown},
				{UUID: "MIG-1-1", Index: "1:1", Name: "NVIDIA L4", Memory: 10 * gib, Split: true,
					Used: nvdocker.Unknown, Utilization: nvdocker.Unknown}}
			if joined.Kind != task.JoinedEvent {
				t.Fatal(joined)
			}
			if diff := cmp.Diff(want, joined.Heartbeat.GPUs); diff != "" {
				t.Error(diff)
			}
		})
}

// local makes a worker one that runs beside its user's other programs.
func local(o *worker.Options) { o.HideGPUs = false }

// A driver that hangs keeps neither programs that need no GPU nor the end.
func TestNothingWaitsForADriver(t *testing.T) {
	onCards(t, nvdocker.Report{}, func(t *testing.T, s *site, c *cards, p *programs) {
		c.mu.Lock()
		c.hangs = true
		c.mu.Unlock()
		s.stop()
		time.Sleep(time.Second)
		begin := time.Now()
		s.start(s.queue.Worker("w1"))
		s.send(batch("", 0), using(1, "GPU-0", 1))
		p.running(t, "while the driver hangs", "0: !")
		time.Sleep(3 * time.Minute)
		s.ended(0, 1)
		last := kinds(s.soFar())
		if slices.Contains(last, "returned 1/1") {
			t.Error("it is not known whether there are GPUs")
		}
		ending := time.Now()
		s.stop()
		if took := time.Since(ending); took > 0 {
			t.Errorf("the end takes %v", took)
		}
		if n := len(c.since(begin)); n != 1 {
			t.Errorf("%d looks at a time", n)
		}
	}, local)
}

func TestHowOftenGPUsAreLookedAt(t *testing.T) {
	sick := nvdocker.Report{Fault: &nvdocker.Problem{Cause: "the driver hangs"}}
	for _, c := range []struct {
		name   string
		report nvdocker.Report
		change func(*worker.Options)
		needed bool
		then   nvdocker.Report // from the second on
		want   []int           // seconds, of the first three minutes
	}{
		{"a cluster", gpus(gpu(0)), func(*worker.Options) {}, false, gpus(gpu(0)),
			[]int{0, 5, 10, 15, 20, 25}},
		{"a cluster without GPUs", nvdocker.Report{}, func(*worker.Options) {}, false,
			nvdocker.Report{}, []int{0, 60, 120, 180}},
		{"nothing needs any", gpus(gpu(0)), local, false, gpus(gpu(0)), []int{0, 60, 120, 180}},
		{"what somebody uses may be waited for", gpus(gpu(0, busy)), local, false,
			gpus(gpu(0, busy)), []int{0, 5, 10, 15}},
		{"a need", gpus(gpu(0)), local, true, gpus(gpu(0)), []int{0, 1, 6, 11}},
		{"it hangs from the start", sick, func(*worker.Options) {}, false, sick,
			[]int{0, 10, 30, 70, 130}},
		{"it hangs while a task ends", gpus(gpu(0)), func(*worker.Options) {}, true, sick,
			[]int{0, 1, 11, 31, 71, 131}},
		{"it hangs", gpus(gpu(0)), func(*worker.Options) {}, false, sick,
			[]int{0, 5, 15, 35, 75, 135}},
	} {
		t.Run(c.name, func(t *testing.T) {
			onCards(t, c.report, func(t *testing.T, s *site, cards *cards, _ *programs) {
				begin := time.Now()
				time.Sleep(time.Second)
				cards.set(c.then)
				if c.needed {
					s.send(each(0))
				}
				time.Sleep(3*time.Minute - time.Second/2)
				s.stop()
				var got []int
				for _, at := range cards.since(begin) {
					got = append(got, int(at.Seconds()))
				}
				got = got[:min(len(got), len(c.want))]
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Error(diff)
				}
			}, c.change)
		})
	}
}

// A host whose GPUs cannot be listed when its worker starts is not taken for one without.
func TestGPUsThatCannotBeListedAtFirst(t *testing.T) {
	onCards(t, hangs, func(t *testing.T, s *site, c *cards, p *programs) {
		beats := s.queue.Heartbeats(t.Context())
		s.skip(beats)
		begin := time.Now()
		if h := <-beats; h.GPUFault != "the driver hangs" || len(h.GPUs) > 0 {
			t.Errorf("%q, %v", h.GPUFault, h.GPUs)
		}
		s.send(batch("", 0))
		p.running(t, "a task that needs no GPU", "0:")
		c.set(gpus(gpu(0)))
		var told time.Duration
		for h := range beats {
			if len(h.GPUs) > 0 {
				if told = h.Time.Sub(begin); h.GPUFault != "" {
					t.Error(h.GPUFault)
				}
				break
			}
		}
		if looks := c.since(begin); told != looks[len(looks)-1] || told > 10*time.Second {
			t.Errorf("a heartbeat lists them after %v; looks: %v", told, looks)
		}
	})
}

// Until a look has ended a worker does not say that it has no GPU.
func TestGPUsThatAreNotListedYet(t *testing.T) {
	onCards(t, nvdocker.Report{}, func(t *testing.T, s *site, c *cards, _ *programs) {
		synctest.Wait()
		events := s.all()
		if joined := events[len(events)-1]; joined.Heartbeat.GPUFault != "" {
			t.Error(joined.Heartbeat.GPUFault)
		}
		s.stop()
		c.mu.Lock()
		c.hangs = true
		c.mu.Unlock()
		s.start(s.queue.Worker("w1"))
		s.beat("GPUs are not listed yet", func(h task.Heartbeat) bool {
			return h.GPUFault == "nvidia-smi has not answered yet"
		})
	})
}

func TestErrorsOfLooks(t *testing.T) {
	onCards(t, gpus(gpu(0)), func(t *testing.T, s *site, c *cards, _ *programs) {
		synctest.Wait()
		c.mu.Lock()
		c.err, c.report = errors.New("no sh here"), nvdocker.Report{}
		c.mu.Unlock()
		s.beat("why", func(h task.Heartbeat) bool {
			return len(h.GPUs) == 1 &&
				h.GPUs[0].Unavailable == "the GPUs cannot be listed: no sh here"
		})
	})
}

func TestVisibleGPUsOfAnAttempt(t *testing.T) {
	t.Parallel()
	c := &cards{report: gpus(gpu(0), gpu(1), gpu(2))}
	const cuda, nvidia, order, ids = "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES",
		"CUDA_DEVICE_ORDER", "GPU_UUIDS"
	type vars = map[string]string
	has := func(numbers, uuids string) vars {
		return vars{cuda: numbers, nvidia: numbers, order: "PCI_BUS_ID", ids: uuids}
	}
	none := vars{cuda: "", nvidia: "void", ids: ""}
	for _, x := range []struct {
		name    string
		hide    bool
		uuids   string // of the GPUs that it was given
		inherit []string
		env     map[string]string
		secret  bool
		want    vars
	}{
		{"one", true, "GPU-0", nil, nil, false, has("0", "GPU-0")},
		{"two", false, "GPU-0 GPU-1", nil, nil, false, has("0,1", "GPU-0,GPU-1")},
		{"what is defined does not count", true, "GPU-0", []string{nvidia + "=all"},
			vars{cuda: "2", order: "FASTEST_FIRST"}, false, has("0", "GPU-0")},
		{"nor a secret", true, "GPU-1", []string{cuda + "=1,0"}, nil, true, has("1", "GPU-1")},
		{"what the worker sees", false, "GPU-2", []string{cuda + "=2"}, nil, false,
			has("2", "GPU-2")},
		{"none on a host without GPUs", true, "", nil, nil, false, none},
		{"none on a host", true, "", []string{nvidia + "=all"}, vars{cuda: "0"}, false, none},
		{"none, locally", false, "", []string{nvidia + "=all"}, nil, false, vars{nvidia: "all"}},
		{"inherited, locally", false, "", []string{cuda + "=1"}, vars{order: "PCI_BUS_ID"}, false,
			vars{cuda: "1", order: "PCI_BUS_ID"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			got, twice := environment(t, func(b *task.Batch) {
				r := &b.Recipe
				r.Env, b.Attempts[0].Share = x.env, 1
				for _, uuid := range strings.Fields(x.uuids) {
					b.Attempts[0].Devices = append(b.Attempts[0].Devices,
						task.Device{UUID: uuid})
				}
				if x.secret {
					r.Secrets = []string{cuda}
				}
			}, inherit(x.inherit...), ownSecrets, func(o *worker.Options) {
				o.GPUs, o.HideGPUs = c.look, x.hide
			})
			seen := vars{}
			for _, name := range []string{cuda, nvidia, order, ids} {
				if value, set := got[name]; set {
					seen[name] = value
				}
			}
			if diff := cmp.Diff(x.want, seen); diff != "" || twice != nil {
				t.Error(diff, twice)
			}
		})
	}
}
