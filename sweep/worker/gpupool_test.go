package worker_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/nvdocker"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

const gib = 1 << 30

// gpu returns a free GPU whose UUID is GPU-N.
func gpu(n int, change ...func(*nvdocker.GPU)) nvdocker.GPU {
	g := nvdocker.GPU{UUID: fmt.Sprintf("GPU-%d", n), Index: n, Name: "NVIDIA L4",
		Bus: fmt.Sprintf("0000:0%d:00.0", n), Memory: 24 * gib, Used: 1 << 20, Utilization: 0}
	for _, c := range change {
		c(&g)
	}
	return g
}

func named(name string) func(*nvdocker.GPU) { return func(g *nvdocker.GPU) { g.Name = name } }

// busy is the use of 6 GB by a program of ben.
func busy(g *nvdocker.GPU) {
	g.Used = 6 * gib
	g.Processes = []nvdocker.Process{{PID: 411, User: "ben", Name: "/usr/bin/python",
		Memory: 6 * gib}}
}

// filled is the use of 6 GB by programs that are not seen, as in a container.
func filled(g *nvdocker.GPU) { g.Used = 6 * gib }

func lost(g *nvdocker.GPU) { g.Lost, g.Index = "GPU is lost", nvdocker.Unknown }

// split makes a GPU two instances.
func split(g *nvdocker.GPU) {
	g.MIG, g.Utilization = true, nvdocker.Unknown
	for i := range 2 {
		g.Instances = append(g.Instances, nvdocker.Instance{Index: i, Memory: 10 * gib,
			UUID: fmt.Sprintf("MIG-%s-%d", strings.TrimPrefix(g.UUID, "GPU-"), i)})
	}
}

func gpus(all ...nvdocker.GPU) nvdocker.Report { return nvdocker.Report{GPUs: all} }

var hangs = nvdocker.Report{Fault: &nvdocker.Problem{Cause: "the driver hangs"}}

// pool is a pool with a clock of its own.
type pool struct {
	*worker.GPUPool
	now time.Time
}

// Start starts attempts just after the latest look.
func (p *pool) Start(waiting ...worker.On) []int64 {
	started, _ := p.GPUPool.Start(p.now, waiting...)
	return started
}

func newPool(r nvdocker.Report) *pool {
	p := &pool{worker.NewGPUPool(), time.Unix(1e9, 0)}
	p.look(r)
	return p
}

func (p *pool) look(r nvdocker.Report) map[string]string {
	return p.Update(r, p.BeginLook(), p.now)
}

// reasons returns the devices and why attempts do not get them.
func (p *pool) reasons() map[string]string {
	all := map[string]string{}
	for _, d := range p.Describe() {
		all[d.UUID] = d.Unavailable
	}
	return all
}

// on is an attempt that has a share of GPUs.
func on(attempt int64, share float64, uuids ...string) worker.On {
	return worker.On{Attempt: attempt, UUIDs: uuids, Share: share}
}

func TestAttemptsStartOnTheirGPUs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		report nvdocker.Report
		runs   []worker.On // before
		waits  []worker.On
		want   []int64
		then   []int64 // once those are released, and the GPUs were looked at
	}{
		{"one each", gpus(gpu(0), gpu(1)), nil,
			[]worker.On{on(1, 1, "GPU-0"), on(2, 1, "GPU-1"), on(3, 1, "GPU-1")}, []int64{1, 2},
			[]int64{3}},
		{"shares", gpus(gpu(0)), nil, []worker.On{on(1, 1./3, "GPU-0"), on(2, 1./3, "GPU-0"),
			on(3, 1./3, "GPU-0"), on(4, 1./3, "GPU-0")}, []int64{1, 2, 3}, []int64{4}},
		{"those without GPUs pass", gpus(gpu(0)), []worker.On{on(1, 1, "GPU-0")},
			[]worker.On{on(2, 1, "GPU-0"), on(3, 0)}, []int64{3}, []int64{2}},
		{"all or none", gpus(gpu(0), gpu(1)), []worker.On{on(1, 1, "GPU-0")},
			[]worker.On{on(2, 1, "GPU-0", "GPU-1"), on(3, 0.5, "GPU-1")}, []int64{3}, []int64{2}},
		{"in use by others", gpus(gpu(0), gpu(1, busy)), nil,
			[]worker.On{on(1, 1, "GPU-1"), on(2, 1, "GPU-0")}, []int64{2}, nil},
		{"not there", gpus(gpu(0)), nil, []worker.On{on(1, 1, "GPU-7")}, nil, nil},
		{"an instance", gpus(gpu(1, split)), nil,
			[]worker.On{on(1, 1, "MIG-1-0"), on(2, 1, "GPU-1")}, []int64{1}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPool(c.report)
			if started := p.Start(c.runs...); len(started) != len(c.runs) {
				t.Fatalf("only these run: %v", started)
			}
			started := p.Start(c.waits...)
			if diff := cmp.Diff(c.want, started); diff != "" {
				t.Error(diff)
			}
			waits := slices.DeleteFunc(c.waits, func(o worker.On) bool {
				return slices.Contains(started, o.Attempt)
			})
			for _, o := range slices.Concat(c.runs, c.waits) {
				p.Release(o.Attempt)
			}
			for _, attempt := range started {
				p.Release(attempt)
			}
			p.look(c.report)
			if diff := cmp.Diff(c.then, p.Start(waits...)); diff != "" {
				t.Errorf("then: %s", diff)
			}
		})
	}
}

// What is in use, or broken, is not given out; what attempts use themselves is no reason.
func TestReasons(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		runs   []worker.On
		report nvdocker.Report
		want   map[string]string
	}{
		{"busy", nil, gpus(gpu(0, busy), gpu(1)),
			map[string]string{"GPU-0": "busy: ben, python (pid 411), 6.0 GB", "GPU-1": ""}},
		{"busy, in a container", nil, gpus(gpu(0, filled), gpu(1)),
			map[string]string{"GPU-0": "busy: 6.0 GB in use", "GPU-1": ""}},
		{"a desktop", nil, gpus(gpu(0, func(g *nvdocker.GPU) { g.Used = 200 << 20 }), gpu(1)),
			map[string]string{"GPU-0": "", "GPU-1": ""}},
		{"ours", []worker.On{on(1, 0.5, "GPU-0")}, gpus(gpu(0, busy), gpu(1)),
			map[string]string{"GPU-0": "", "GPU-1": ""}},
		{"ours, in a container", []worker.On{on(1, 1, "GPU-0")}, gpus(gpu(0, filled), gpu(1)),
			map[string]string{"GPU-0": "", "GPU-1": ""}},
		{"ECC", []worker.On{on(1, 1, "GPU-0")},
			gpus(gpu(0, filled, func(g *nvdocker.GPU) { g.Errors = 2 }), gpu(1)),
			map[string]string{"GPU-0": "GPU 0: its memory had 2 uncorrected errors (ECC)",
				"GPU-1": ""}},
		{"lost", []worker.On{on(1, 1, "GPU-0")}, gpus(gpu(1), gpu(0, lost)),
			map[string]string{"GPU-1": "",
				"GPU-0": "GPU 0000:00:00.0 does not answer: GPU is lost"}},
		{"gone", nil, gpus(gpu(0)),
			map[string]string{"GPU-0": "", "GPU-1": "it does not answer any more"}},
		{"the driver hangs", []worker.On{on(1, 1, "GPU-0")}, hangs,
			map[string]string{"GPU-0": "the driver hangs", "GPU-1": "the driver hangs"}},
		{"one more", nil, gpus(gpu(0), gpu(1), gpu(2)),
			map[string]string{"GPU-0": "", "GPU-1": "", "GPU-2": ""}},
		{"split meanwhile", nil, gpus(gpu(0), gpu(1, split)),
			map[string]string{"GPU-0": "", "MIG-1-0": "", "MIG-1-1": ""}},
		{"control characters", nil, gpus(gpu(0, func(g *nvdocker.GPU) {
			g.Used = 6 * gib
			g.Processes = []nvdocker.Process{{PID: 4, Name: "a\x1b[2Jb\xff", Memory: -1}}
		}), gpu(1)), map[string]string{"GPU-0": `busy: a\x1b[2Jb\xff (pid 4)`, "GPU-1": ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPool(gpus(gpu(0), gpu(1)))
			p.Start(c.runs...)
			before := p.reasons()
			changes := p.look(c.report)
			if diff := cmp.Diff(c.want, p.reasons()); diff != "" {
				t.Error(diff)
			}
			for uuid, reason := range c.want {
				was, known := before[uuid]
				changed, told := changes[uuid]
				if told != (!known || was != reason) || changed != reason && told {
					t.Errorf("%s: change %q, told %v", uuid, changed, told)
				}
			}
			for _, d := range p.Describe() {
				want := d.Unavailable != "" && !strings.HasPrefix(d.Unavailable, "busy: ")
				if d.Broken != want {
					t.Errorf("%s, %q: broken is %v", d.UUID, d.Unavailable, d.Broken)
				}
			}
			h := task.Heartbeat{Version: task.Version, Worker: "w1", GPUs: p.Describe()}
			if err := h.Check("w1"); err != nil {
				t.Error(err)
			}
		})
	}
}

// A GPU that was released is given out after a look that began later has found it free.
func TestReleasedGPUIsLookedAt(t *testing.T) {
	t.Parallel()
	p := newPool(gpus(gpu(0)))
	p.Start(on(1, 1, "GPU-0"))
	before := p.BeginLook()
	if !p.Release(1) || p.Release(1) {
		t.Error("a release tells whether there was something to release")
	}
	starts := func(want bool, when string) {
		t.Helper()
		got := p.Start(on(2, 0.5, "GPU-0"))
		if p.Release(2); (len(got) > 0) != want {
			t.Errorf("%s: %v", when, got)
		}
	}
	starts(false, "at once")
	p.Update(gpus(gpu(0, filled)), before, p.now)
	if p.reasons()["GPU-0"] != "" {
		t.Error("its own use, during a look that began before, is a reason")
	}
	starts(false, "after a look that began before")
	p.look(gpus(gpu(0, filled)))
	starts(false, "with memory in use")
	if got := p.reasons()["GPU-0"]; got != "busy: 6.0 GB in use" {
		t.Error(got)
	}
	p.look(gpus(gpu(0)))
	starts(true, "when it is free")

	p = newPool(gpus(gpu(0)))
	p.Start(on(1, 0.5, "GPU-0"), on(3, 0.5, "GPU-0"))
	p.Release(1)
	starts(true, "while another share of it is in use")
}

// What was free some time ago is looked at again before it is given out: somebody may have begun to
// use it.
func TestOldLooks(t *testing.T) {
	t.Parallel()
	p := newPool(gpus(gpu(0), gpu(1)))
	starts := func(when string, waits worker.On, want, wantStale bool) {
		t.Helper()
		got, stale := p.GPUPool.Start(p.now, waits)
		if len(got) > 0 != want || stale != wantStale {
			t.Errorf("%s: %v, stale %v", when, got, stale)
		}
	}
	p.now = p.now.Add(999 * time.Millisecond)
	starts("fresh", on(1, 0.5, "GPU-0"), true, false)
	p.now = p.now.Add(time.Millisecond)
	starts("ours", on(2, 0.5, "GPU-0"), true, false)
	starts("old", on(3, 1, "GPU-1"), false, true)
	starts("what is ours is in use", on(5, 1, "GPU-0", "GPU-1"), false, false)
	slow := p.BeginLook()
	p.now = p.now.Add(20 * time.Second)
	starts("while a look hangs", on(3, 1, "GPU-1"), false, true)
	p.Update(gpus(gpu(0, busy), gpu(1)), slow, p.now)
	starts("at its end", on(3, 1, "GPU-1"), true, false)
}

// A GPU that failed has to answer for a minute before it is given out again; one that was in use,
// or whose driver did not answer in time, is at once.
func TestGPUComesBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		report nvdocker.Report
		waits  bool
	}{
		{"busy", gpus(gpu(0, busy)), false}, {"hangs", hangs, false},
		{"lost", gpus(gpu(0, lost)), true}, {"gone", gpus(gpu(7)), true},
	} {
		p := newPool(gpus(gpu(0)))
		p.look(c.report)
		was := p.reasons()["GPU-0"]
		p.now = p.now.Add(59 * time.Second)
		p.look(gpus(gpu(0)))
		if now := p.reasons()["GPU-0"]; was == "" || c.waits != (now == was) {
			t.Errorf("%s: %q, after 59 s %q", c.name, was, now)
		}
		p.now = p.now.Add(time.Second)
		if p.look(gpus(gpu(0))); p.reasons()["GPU-0"] != "" {
			t.Errorf("%s: after a minute: %q", c.name, p.reasons())
		}
	}
}

// An attempt whose GPU is gone, broken or locked is returned at once, and one whose GPU others use
// after a minute: that may be a program which is about to end.
func TestLostGPUs(t *testing.T) {
	t.Parallel()
	wants := on(1, 1, "GPU-0", "GPU-1")
	for _, c := range []struct {
		name    string
		report  nvdocker.Report
		holders map[string]string
		want    time.Duration // after so long; negative: never
	}{
		{"free", gpus(gpu(0), gpu(1)), nil, -1}, {"gone", gpus(gpu(0)), nil, 0},
		{"lost", gpus(gpu(0), gpu(1, lost)), nil, 0}, {"the driver hangs", hangs, nil, 0},
		{"busy", gpus(gpu(0), gpu(1, busy)), nil, 10 * time.Second},
		{"locked", gpus(gpu(0), gpu(1)), map[string]string{"GPU-1": "another"}, 0},
	} {
		p := newPool(gpus(gpu(0), gpu(1)))
		p.SetHolders(c.holders)
		p.look(c.report)
		if got := p.Lost(wants, p.now); got != (c.want == 0) {
			t.Errorf("%s: at once: %v", c.name, got)
		}
		if got := p.Lost(wants, p.now.Add(time.Minute)); got != (c.want >= 0) {
			t.Errorf("%s: after a minute: %v", c.name, got)
		}
	}
	if worker.NewGPUPool().Lost(wants, time.Now()) {
		t.Error("it is not known yet which GPUs there are")
	}
}

// Whatever happens, no more than all of a GPU is used, and at the end everything is as at the
// beginning.
func TestPoolKeepsItsPromises(t *testing.T) {
	t.Parallel()
	report := gpus(gpu(0), gpu(1, named("T4")), gpu(2, split), gpu(3))
	uuids := []string{"GPU-0", "GPU-1", "MIG-2-0", "MIG-2-1", "GPU-3", "GPU-9"}
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := newPool(report)
		shares := map[string]float64{}
		var waits, runs []worker.On
		next, looks := int64(0), []int{}
		for range 150 {
			switch r.IntN(5) {
			case 0, 1:
				next++
				o := on(next, []float64{1, 1, 0.5, 1. / 3, 1. / 7}[r.IntN(5)])
				for _, n := range r.Perm(len(uuids))[:r.IntN(3)] {
					o.UUIDs = append(o.UUIDs, uuids[n])
				}
				waits = append(waits, o)
			case 2:
				looks = append(looks, p.BeginLook())
			case 3:
				some := slices.Clone(report.GPUs)
				for _, change := range []func(*nvdocker.GPU){busy, filled, lost} {
					if r.IntN(4) == 0 {
						change(&some[r.IntN(len(some))])
					}
				}
				if len(looks) > 0 {
					p.Update(gpus(some...), looks[0], p.now)
					looks = looks[1:]
				}
			case 4:
				if len(runs) > 0 {
					i := r.IntN(len(runs))
					give(shares, runs[i], -1)
					p.Release(runs[i].Attempt)
					runs = slices.Delete(runs, i, i+1)
				}
			}
			if r.IntN(4) == 0 {
				p.now = p.now.Add(time.Duration(r.IntN(60)) * time.Second)
			}
			started := p.Start(waits...)
			waits = slices.DeleteFunc(waits, func(w worker.On) bool {
				if !slices.Contains(started, w.Attempt) {
					return false
				}
				give(shares, w, 1)
				runs = append(runs, w)
				return true
			})
			for _, d := range p.Describe() {
				if shares[d.UUID] > 1+1e-6 || d.Given > 1 ||
					max(d.Given-shares[d.UUID], shares[d.UUID]-d.Given) > 1e-6 {
					t.Fatalf("seed %d: %s: %v given, it says %v", seed, d.UUID, shares[d.UUID],
						d.Given)
				}
			}
		}
		for _, w := range runs {
			p.Release(w.Attempt)
		}
		p.look(report)
		p.now = p.now.Add(time.Hour)
		p.look(report)
		if diff := cmp.Diff(newPool(report).Describe(), p.Describe()); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
		if started := p.Start(on(-1, 1, uuids[:5]...)); len(started) != 1 {
			t.Fatalf("seed %d: not everything is free at the end", seed)
		}
	}
}

// give books what an attempt has.
func give(shares map[string]float64, o worker.On, sign float64) {
	for _, uuid := range o.UUIDs {
		shares[uuid] += sign * o.Share
	}
}
