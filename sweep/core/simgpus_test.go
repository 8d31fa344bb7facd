package core_test

import (
	"fmt"
	"slices"
	"time"

	"mlframework/nvdocker"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// What every host of a simulation has beside GPUs.
const (
	simCPUs   = 8
	simMemory = 64 * gib
)

// simGPUs are the GPUs of a worker, and what its attempts have of them.
type simGPUs struct {
	devices []task.GPU
	given   map[runKey]task.Attempt
}

func newSimGPUs(devices []task.GPU) *simGPUs {
	return &simGPUs{devices, map[runKey]task.Attempt{}}
}

// share is how much of a device attempts have.
func (g *simGPUs) share(uuid string) (sum float64) {
	for _, a := range g.given {
		if slices.Contains(task.UUIDs(a.Devices), uuid) {
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

// find returns a device; nil: there is none of that UUID.
func (g *simGPUs) find(uuid string) *task.GPU {
	i := slices.IndexFunc(g.devices, func(d task.GPU) bool { return d.UUID == uuid })
	if i < 0 {
		return nil
	}
	return &g.devices[i]
}

// hasDevices reports whether an attempt can begin on the devices that it was given.
func (p *simProcess) hasDevices(i simItem) bool {
	return !slices.ContainsFunc(i.attempt.Devices, func(d task.Device) bool {
		g := p.gpus.find(d.UUID)
		return g == nil || g.Unavailable != "" ||
			!p.bug.forgetGPUs && p.gpus.share(d.UUID)+i.attempt.Share > 1+1e-9
	})
}

// simPatience is how long an attempt waits for GPUs that others use, before it is returned.
const simPatience = 20 * time.Second

// returnUnmet returns what waits for GPUs that others use for long.
func (p *simProcess) returnUnmet() {
	p.giveBack(func(i simItem) bool {
		out := slices.ContainsFunc(i.attempt.Devices, func(d task.Device) bool {
			g := p.gpus.find(d.UUID)
			return g == nil || g.Unavailable != ""
		})
		if !out {
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
		g := task.GPU{UUID: fmt.Sprintf("GPU-%s-%d", h.host, i), Index: fmt.Sprint(i),
			Name: "NVIDIA T4", Memory: 16 * gib}
		if i > 0 && h.IntN(4) == 0 {
			g.Name, g.Memory = "NVIDIA A100", 40*gib
		}
		all = append(all, g)
	}
	return all
}

// newNeeds makes up what tasks of a sweep need.
func (p *simPeople) newNeeds() (need task.Needs) {
	devices := p.hosts[0].gpus.devices
	if len(devices) == 0 || p.plan.IntN(3) == 0 {
		return need
	}
	switch p.plan.IntN(6) {
	case 0:
		need.CPUs = 1 + p.plan.IntN(p.hosts[0].slots)
	case 1:
		need.Memory = int64(1+p.plan.IntN(40)) * gib
	case 2:
		if !p.plain { // perhaps it is gone for good
			need.On = map[string]string{task.HostLabel: p.hosts[0].host}
		}
	}
	switch p.plan.IntN(8) {
	case 0:
		need.GPUs = task.GPUs{Count: 1, All: true}
	case 1:
		need.GPUs = task.GPUs{Count: 1, Share: true, Memory: int64(2+p.plan.IntN(6)) * gib}
	case 2:
		if !p.plain { // perhaps nobody has one
			need.GPUs = task.GPUs{Count: 1, Memory: 24 * gib}
		}
	case 3:
		need.GPUs = task.GPUs{Count: 1, Name: "t4"}
	default:
		need.GPUs.Count = []float64{0, 1, 1, 0.5, 1.0 / 3, float64(len(devices))}[p.plan.IntN(6)]
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

// slotsOf returns the slots that a task of a sweep takes of a worker.
func (j *simJudge) slotsOf(worker string, need task.Needs) int {
	switch {
	case j.beats[j.master.core.Beat(worker).Incarnation].SlotsChosen:
		return 1
	case need.CPUs > 0:
		return need.CPUs
	case need.GPUs.Count > 0:
		return 0
	}
	return 1
}

// hadGPU reports whether a process of a worker's name had a device.
func (j *simJudge) hadGPU(worker, uuid string) bool {
	for _, beat := range j.beats {
		if beat.Worker == worker && slices.ContainsFunc(beat.GPUs,
			func(g task.GPU) bool { return g.UUID == uuid }) {
			return true
		}
	}
	return false
}

// resources checks that what a worker was just sent has devices that exist, work, meet the need, and
// are given out once, and that the host has the CPUs and memory of all its tasks.
func (j *simJudge) resources(worker string, b *task.Batch, fresh []task.Attempt) {
	need, has := b.Recipe.Needs, map[string]task.GPU{}
	for _, g := range j.beats[j.master.core.Beat(worker).Incarnation].GPUs {
		has[g.UUID] = g
	}
	for _, a := range fresh {
		for _, d := range a.Devices {
			g, known := has[d.UUID]
			switch {
			case !known && j.hadGPU(worker, d.UUID):
				// it was placed with a process that has ended since; the present one returns it
			case !known:
				j.report("gpus: %s is told to use %s, which it does not have", worker, d.UUID)
			case g.Unavailable != "":
				j.report("gpus: %s is told to use %s, which is %s", worker, d.UUID, g.Unavailable)
			case !nvdocker.Need(need.GPUs).Matches(core.Devices([]task.GPU{g})[0]):
				j.report("gpus: %s is told to use %s, which is no %v", worker, d.UUID, need.GPUs)
			}
		}
		if want := int(max(need.GPUs.Count, 0)); len(a.Devices) < want ||
			need.GPUs.Count == 0 && len(a.Devices) > 0 {
			j.report("gpus: %s is told to use %v, and needs %v", worker, a.Devices, need.GPUs)
		}
	}
	shares, cpus, memory := map[string]float64{}, 0, int64(0)
	for _, w := range j.store.sweeps {
		need := w.model.record.Recipe.Needs
		for _, row := range w.model.rows {
			if !row.State.Active() || row.Attempt.Worker != worker {
				continue
			}
			cpus, memory = cpus+need.CPUs, memory+need.Memory
			for _, d := range row.Attempt.Devices {
				g := j.gpus[d.UUID]
				shares[d.UUID] += partOf(need.GPUs, core.Devices([]task.GPU{g})[0])
			}
		}
	}
	for uuid, sum := range shares {
		if sum > 1+1e-6 {
			j.report("gpus: %s is given out %.2f times", uuid, sum)
		}
	}
	if cpus > simCPUs || memory > simMemory {
		j.report("capacity: tasks of %s have %d CPUs and %d bytes", worker, cpus, memory)
	}
}
