package core_test

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"mlframework/nvdocker"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// simGPUs gives attempts GPUs as a worker does.
type simGPUs struct {
	devices []task.GPU
	given   map[runKey]nvdocker.Assignment
}

func newSimGPUs(devices []task.GPU) *simGPUs {
	return &simGPUs{devices, map[runKey]nvdocker.Assignment{}}
}

// share is how much of a device attempts have.
func (g *simGPUs) share(uuid string) (sum float64) {
	for _, a := range g.given {
		if slices.Contains(a.UUIDs(), uuid) {
			sum += a.Share
		}
	}
	return sum
}

// describe is what a heartbeat says of them.
func (g *simGPUs) describe() []task.GPU {
	all := slices.Clone(g.devices)
	for i := range all {
		all[i].Given = min(1, g.share(all[i].UUID))
	}
	return all
}

// assign chooses devices for an attempt. What waits already keeps those that it could get.
func (g *simGPUs) assign(need nvdocker.Need, waiting *[]nvdocker.Need) (nvdocker.Assignment,
	error) {
	var devices []nvdocker.Device
	used := map[string]float64{}
	for _, d := range g.devices {
		device := nvdocker.Device{UUID: d.UUID, Name: d.Name, Memory: d.Memory, Split: d.Split}
		if d.Unavailable == "" {
			devices = append(devices, device)
		}
		used[d.UUID] = g.share(d.UUID)
		if slices.ContainsFunc(*waiting,
			func(n nvdocker.Need) bool { return n.Matches(device) }) {
			used[d.UUID] = 1
		}
	}
	a, err := nvdocker.Assign(devices, used, need)
	if errors.Is(err, nvdocker.ErrBusy) {
		*waiting = append(*waiting, need)
	}
	return a, err
}

// simPatience is how long an attempt waits for GPUs that others use, before it is returned.
const simPatience = 20 * time.Second

// newDevices are GPUs of a host; none of most.
func (h *simHost) newDevices() (all []task.GPU) {
	if !h.sim.gpus {
		return nil
	}
	n := h.IntN(4)
	if len(h.hosts) == 0 {
		n = 1 + h.IntN(3) // so that there are some
	}
	for i := range n {
		g := task.GPU{UUID: fmt.Sprintf("GPU-%s-%d", h.host, i), Name: "NVIDIA T4",
			Memory: 16 * gib}
		if i > 0 && h.IntN(4) == 0 {
			g.Name, g.Memory = "NVIDIA A100", 40*gib
		}
		all = append(all, g)
	}
	return all
}

// newNeed makes up what tasks of a sweep need of GPUs.
func (p *simPeople) newNeed() (need task.GPUs) {
	devices := p.hosts[0].gpus.devices
	if len(devices) == 0 || p.plan.IntN(3) == 0 {
		return need
	}
	need.Count = []float64{1, 1, 0.5, 1.0 / 3, float64(len(devices))}[p.plan.IntN(5)]
	switch p.plan.IntN(4) {
	case 0:
		if need.Count <= 1 {
			need.Name = "t4"
		}
	case 1:
		if !p.plain { // perhaps nobody has one
			need.Memory = 24 * gib
		}
	}
	return need
}

// useGPU has others use a GPU of a host for a while.
func (s *sim) useGPU() {
	devices := s.anyHost().gpus.devices
	if len(devices) == 0 {
		return
	}
	g := &devices[s.IntN(len(devices))]
	g.Unavailable = "busy: ben"
	s.tracef("%s is used by others", g.UUID)
	s.after(s.upTo(time.Minute), func() { g.Unavailable = "" })
}

// assignGPUs gives a waiting attempt GPUs; false: it has to wait for them.
func (p *simProcess) assignGPUs(i simItem, waiting *[]nvdocker.Need) (a nvdocker.Assignment,
	ok bool) {
	need := nvdocker.Need(i.gpus)
	if p.bug.forgetGPUs {
		return assignOne(p.gpus.devices, nil, need)
	}
	a, err := p.gpus.assign(need, waiting)
	return a, err == nil
}

func assignOne(devices []task.GPU, used map[string]float64, need nvdocker.Need) (
	nvdocker.Assignment, bool) {
	var all []nvdocker.Device
	for _, d := range devices {
		all = append(all, nvdocker.Device{UUID: d.UUID, Name: d.Name, Memory: d.Memory})
	}
	a, err := nvdocker.Assign(all, used, need)
	return a, err == nil
}

// returnUnmet returns what waits for GPUs that others use for long. What the host can never give
// must not have come.
func (p *simProcess) returnUnmet() {
	p.giveBack(func(i simItem) bool {
		if _, ever := assignOne(p.gpus.devices, nil, nvdocker.Need(i.gpus)); !ever {
			p.judge.report("gpus: %v came to %s, which can never give it %v", i.id, p.host, i.gpus)
		}
		usable := slices.DeleteFunc(slices.Clone(p.gpus.devices),
			func(g task.GPU) bool { return g.Unavailable != "" })
		_, meets := assignOne(usable, nil, nvdocker.Need(i.gpus))
		if meets {
			delete(p.unmet, i.runKey)
			return false
		}
		if p.unmet[i.runKey].IsZero() {
			p.unmet[i.runKey] = p.now
		}
		return p.now.Sub(p.unmet[i.runKey]) >= simPatience
	})
}

// releaseGPUs takes back what attempts had, of which nothing is alive.
func (p *simProcess) releaseGPUs(runs ...*simRun) {
	for _, r := range runs {
		delete(p.gpus.given, r.runKey)
		if r.start > 0 {
			p.judge.starts[r.start-1].Ended = p.now
		}
	}
}

// waitingForGPUs counts the tasks that wait on a worker for GPUs that it cannot give anybody now, as
// the master knows it. They take no slots.
func (j *simJudge) waitingForGPUs(worker string) (n int) {
	usable := slices.DeleteFunc(slices.Clone(j.master.core.Worker(worker).GPUs),
		func(g task.GPU) bool { return g.Unavailable != "" })
	for _, w := range j.store.sweeps {
		need := w.model.record.Recipe.GPUs
		if _, meets := assignOne(usable, nil, nvdocker.Need(need)); meets {
			continue
		}
		for _, row := range w.model.rows {
			if row.Attempt.Worker == worker &&
				(row.State == task.Queued || row.State == task.Claimed) {
				n++
			}
		}
	}
	return n
}

// ofGPUs checks that a worker that is sent tasks which need GPUs has no more of a sweep than its
// GPUs can have, and those that may wait for them.
func (j *simJudge) ofGPUs(worker, sweep string, need task.GPUs) {
	if need == (task.GPUs{}) {
		return
	}
	used, fit := map[string]float64{}, 0
	for ; ; fit++ {
		a, ok := assignOne(j.devices[worker], used, nvdocker.Need(need))
		if !ok {
			break
		}
		for _, d := range a.Devices {
			used[d.UUID] += a.Share
		}
	}
	most := core.PrefetchTarget(fit, shortestTask, true)
	if held := j.store.held(worker, sweep); held > most || fit == 0 {
		j.report("gpus: %s is given %d tasks of %s, and its GPUs have room for %d", worker, held,
			sweep, fit)
	}
}
