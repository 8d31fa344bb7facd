package core

import (
	"math"
	"slices"

	"mlframework/nvdocker"
	"mlframework/sweep/task"
)

// hostGPUs are the GPUs of a worker, as its newest heartbeat has them. The zero value is none.
type hostGPUs struct {
	devices []nvdocker.Device
	room    gpuRoom                // of the worker without tasks
	given   []int                  // of each, what attempts have, as the worker says
	byNeed  map[task.GPUs]*metNeed // as they are asked for
}

// metNeed is how the devices of a worker meet a need.
type metNeed struct {
	devices []int  // those that it can be met with
	never   string // what the worker has, if it can never give what is needed; else ""
}

// needOf returns what a task needs of GPUs, as nvdocker has it.
func needOf(g task.GPUs) nvdocker.Need {
	return nvdocker.Need(g)
}

func deviceOf(g *task.GPU) nvdocker.Device {
	d := nvdocker.Device{UUID: g.UUID, Name: g.Name, Memory: g.Memory, Split: g.Split}
	if d.Memory <= 0 {
		d.Memory = nvdocker.Unknown
	}
	return d
}

// update takes over the GPUs of a heartbeat.
func (g *hostGPUs) update(all []task.GPU) {
	if len(all)+len(g.devices) == 0 {
		return
	}
	if !slices.EqualFunc(g.devices, all,
		func(d nvdocker.Device, g task.GPU) bool { return d == deviceOf(&g) }) {
		*g = hostGPUs{room: gpuRoom{free: make([]int, len(all))}, given: make([]int, len(all))}
		for i := range all {
			g.devices = append(g.devices, deviceOf(&all[i]))
		}
	}
	for i := range all {
		g.room.free[i], g.given[i] = 0, int(math.Round(all[i].Given*gpuUnits))
		if all[i].Unavailable == "" {
			g.room.free[i] = gpuUnits
		}
	}
}

// meeting returns the devices that a need can be met with, whoever has them.
func (g *hostGPUs) meeting(need task.GPUs) []int {
	if len(g.devices) == 0 {
		return nil
	}
	return g.meet(need).devices
}

// meet returns how the devices meet a need. It is asked at every placement, and by every sweep that
// waits each second.
func (g *hostGPUs) meet(need task.GPUs) *metNeed {
	if is := g.byNeed[need]; is != nil {
		return is
	}
	if g.byNeed == nil || len(g.byNeed) == maxNeeds {
		g.byNeed = map[task.GPUs]*metNeed{}
	}
	is := &metNeed{devices: needOf(need).Matching(g.devices), never: neverMeets(g.devices, need)}
	g.byNeed[need] = is
	return is
}

// maxNeeds bounds the needs of which is kept how the devices of a worker meet them.
const maxNeeds = 64

// availableUnits is what attempts of a worker may have of GPUs, all together.
func availableUnits(h *task.Heartbeat) (units int) {
	for i := range h.GPUs {
		if h.GPUs[i].Unavailable == "" {
			units += gpuUnits
		}
	}
	return units
}

// gpuRoom is what a worker's GPUs have left for tasks, by device, in gpuUnits. Devices that nobody
// gets now have none.
type gpuRoom struct{ free []int }

// gpuRoom is what the tasks of a worker leave. What runs has the devices that its start named. What
// has not begun gets what the worker will give it, as far as that can be foreseen: it chooses when
// it starts an attempt.
func (w *worker) gpuRoom() gpuRoom {
	r := gpuRoom{free: slices.Clone(w.gpus.room.free)}
	for _, h := range w.assigned {
		if l := h.sweep.ledger; l.needs.GPUs > 0 {
			for _, t := range l.assigned[w.record.Name] {
				for _, uuid := range t.devices() {
					r.give(w.deviceIndex(uuid), min(l.needs.GPUs, gpuUnits))
				}
			}
		}
	}
	if w.beat.Ending > 0 { // attempts that have ended may still have some
		for i, given := range w.gpus.given {
			r.free[i] = min(r.free[i], max(0, gpuUnits-given))
		}
	}
	for _, h := range w.assigned {
		if l := h.sweep.ledger; l.needs.GPUs > 0 {
			for _, t := range l.assigned[w.record.Name] {
				if len(t.devices()) == 0 {
					r.take(w, h.sweep)
				}
			}
		}
	}
	return r
}

// devices are the UUIDs of the GPUs that a task of a worker runs on; empty: it does not run.
func (t *Task) devices() []string {
	if t.State != task.Running {
		return nil
	}
	return t.Attempt.Start.GPUs
}

// deviceIndex finds a device of a worker; -1: it has it no more.
func (w *worker) deviceIndex(uuid string) int {
	return slices.IndexFunc(w.gpus.devices,
		func(d nvdocker.Device) bool { return d.UUID == uuid })
}

func (r *gpuRoom) give(device, units int) {
	if device >= 0 {
		r.free[device] = max(0, r.free[device]-units)
	}
}

// count returns how many tasks of a sweep fit beside each other.
func (r *gpuRoom) count(w *worker, a *activeSweep) (n int) {
	needs := a.ledger.needs.GPUs
	if needs <= 0 {
		return math.MaxInt
	}
	whole := 0
	for _, i := range w.gpus.meeting(a.record.Recipe.GPUs) {
		if needs < gpuUnits {
			n += r.free[i] / needs
		} else if r.free[i] == gpuUnits {
			whole++
		}
	}
	if needs >= gpuUnits {
		n = whole * gpuUnits / needs
	}
	return n
}

// take gives a task of a sweep devices, those that nvdocker.Assign chooses, and reports whether it
// got them. If they are not free the task waits on the worker, which gives nobody else the devices
// that it could have.
func (r *gpuRoom) take(w *worker, a *activeSweep) bool {
	needs, meeting := a.ledger.needs.GPUs, w.gpus.meeting(a.record.Recipe.GPUs)
	if r.count(w, a) == 0 {
		if w.gpus.room.count(w, a) > 0 {
			for _, i := range meeting {
				r.free[i] = 0
			}
		}
		return false
	}
	for share := min(needs, gpuUnits); needs > 0; needs -= share {
		best := -1
		for _, i := range meeting {
			if r.free[i] >= share && (best < 0 || r.before(w, i, best)) {
				best = i
			}
		}
		r.give(best, share)
	}
	return true
}

// before reports whether a device is given before another: the fuller one is, and of two that are
// as full the one with less memory.
func (r *gpuRoom) before(w *worker, i, other int) bool {
	if r.free[i] != r.free[other] {
		return r.free[i] < r.free[other]
	}
	return w.gpus.devices[i].Memory < w.gpus.devices[other].Memory
}

// fit returns how many tasks of a sweep a worker with no others could run at a time.
func (w *worker) fit(a *activeSweep) int {
	needs := a.ledger.needs
	n := w.capacity.Count(Resources{Slots: needs.Slots})
	if needs.GPUs > 0 && n > 0 {
		n = min(n, w.gpus.room.count(w, a))
	}
	return n
}

// couldStart reports whether a worker could start a task of a sweep now if it had no others.
func (w *worker) couldStart(a *activeSweep) bool {
	return w.available() && w.gpus.room.count(w, a) > 0
}

// waitingForGPUs returns how many tasks of a sweep wait on a worker for GPUs that it cannot give
// anybody now. They take no slot: those that need no GPUs pass them.
func (w *worker) waitingForGPUs(a *activeSweep) int {
	if a.ledger.needs.GPUs == 0 || w.gpus.room.count(w, a) > 0 {
		return 0
	}
	return a.ledger.unstarted(w.record.Name)
}

// occupied is what the tasks of a worker take of its capacity.
func (w *worker) occupied(c *Core) Resources {
	waiting := 0
	if c.withGPUs > 0 {
		for _, h := range w.assigned {
			waiting += w.waitingForGPUs(h.sweep)
		}
	}
	return w.taken.Take(Resources{Slots: waiting})
}

// capacityFor returns what all workers that take tasks have for those of a sweep.
func (c *Core) capacityFor(a *activeSweep) Resources {
	if a.ledger.needs.GPUs == 0 || a.ledger.maxFails <= 0 { // else nobody asks
		return c.capacity
	}
	if a.fittingAt != c.placements {
		a.fitting, a.fittingAt = 0, c.placements
		for _, w := range c.ordered {
			if w.takesTasks {
				a.fitting += w.fit(a)
			}
		}
	}
	return a.ledger.needs.Times(a.fitting)
}
