package core

import (
	"math"
	"slices"

	"mlframework/sweep/task"
)

// room is what a worker's host has left for tasks of the worker that reserve what they need.
type room struct {
	gpus   *hostGPUs
	cpus   int
	memory int64
	free   []int // of each device, in gpuUnits; 0 for devices that no task gets now
}

// whole returns the room of a worker if its host had no tasks. What is not known has no limit.
func (w *worker) whole() room {
	r := room{gpus: &w.gpus, cpus: math.MaxInt, memory: math.MaxInt64, free: w.gpus.usable}
	if w.beat.CPUs > 0 {
		r.cpus = w.beat.CPUs
	}
	if w.beat.Memory > 0 {
		r.memory = w.beat.Memory
	}
	return r
}

// room returns what the tasks of all workers of a worker's host leave it.
func (w *worker) room() room {
	r := w.whole()
	r.free = slices.Clone(r.free)
	for _, on := range w.host.workers {
		if on.beat.Ending > 0 || len(on.beat.Leftovers) > 0 { // attempts that have ended may have some
			for i := range on.beat.GPUs {
				if at := w.gpus.index(on.beat.GPUs[i].UUID); at >= 0 {
					given := int(math.Round(on.beat.GPUs[i].Given * gpuUnits))
					r.free[at] = min(r.free[at], max(0, gpuUnits-given))
				}
			}
		}
	}
	for _, on := range w.host.workers {
		for _, part := range on.assigned {
			n := &part.sweep.ledger.needs
			if !n.reserved {
				continue
			}
			r.cpus -= n.CPUs * part.tasks
			r.memory -= n.Memory * int64(part.tasks)
			if n.devices > 0 {
				for _, t := range part.sweep.ledger.assigned[on.record.Name] {
					r.takeDevices(n, t.Attempt.Devices)
				}
			}
		}
	}
	return r
}

// takeDevices takes what a task has of devices.
func (r *room) takeDevices(n *needs, devices []task.Device) {
	for _, d := range devices {
		if i := r.gpus.index(d.UUID); i >= 0 {
			r.free[i] = max(0, r.free[i]-n.of(&r.gpus.devices[i]))
		}
	}
}

// count returns how many tasks with the same needs fit beside each other.
func (r *room) count(n *needs) (fit int) {
	fit = math.MaxInt
	if n.CPUs > 0 {
		fit = max(0, r.cpus) / n.CPUs
	}
	if n.Memory > 0 {
		fit = min(fit, int(min(max(0, r.memory)/n.Memory, math.MaxInt32)))
	}
	if n.devices > 0 && fit > 0 {
		fit = min(fit, r.countGPUs(n))
	}
	return fit
}

func (r *room) countGPUs(n *needs) (fit int) {
	usable, whole := 0, 0
	for _, i := range r.gpus.meeting(n.GPUs) {
		if r.gpus.usable[i] > 0 {
			usable++
		}
		if r.free[i] == gpuUnits {
			whole++
		}
		fit += r.free[i] / n.of(&r.gpus.devices[i])
	}
	switch {
	case n.GPUs.All && usable > 0 && whole == usable:
		return 1
	case n.GPUs.All:
		return 0
	case n.units == gpuUnits:
		return whole / n.devices
	}
	return fit
}

// take gives a task what it needs, and returns its devices. It has to fit.
func (r *room) take(n *needs) (devices []task.Device) {
	r.cpus -= n.CPUs
	r.memory -= n.Memory
	if n.devices == 0 {
		return nil
	}
	g := r.gpus
	all := g.meeting(n.GPUs)
	for len(devices) < n.devices || n.GPUs.All {
		best := -1
		for _, i := range all {
			if r.free[i] >= n.of(&g.devices[i]) && (best < 0 || r.before(i, best)) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		d := &g.devices[best]
		r.free[best] -= n.of(d)
		devices = append(devices, task.Device{UUID: d.UUID, Index: d.Number, Name: d.Name})
	}
	return devices
}

// share returns what a task has of each of its devices: 0 to 1.
func (w *worker) share(n *needs, devices []task.Device) float64 {
	if len(devices) == 0 {
		return 0
	}
	if n.units > 0 {
		return float64(n.units) / gpuUnits
	}
	if i := w.gpus.index(devices[0].UUID); i >= 0 {
		return float64(n.of(&w.gpus.devices[i])) / gpuUnits
	}
	return 1
}

// keep leaves nothing of what a task that does not fit could have.
func (r *room) keep(n *needs) {
	if n.CPUs > 0 {
		r.cpus = 0
	}
	if n.Memory > 0 {
		r.memory = 0
	}
	for _, i := range r.gpus.meeting(n.GPUs) {
		r.free[i] = 0
	}
}

// before reports whether a device is given before another: the fuller one is, and of two that are
// as full the one with less memory.
func (r *room) before(i, other int) bool {
	if r.free[i] != r.free[other] {
		return r.free[i] < r.free[other]
	}
	return r.gpus.devices[i].Memory < r.gpus.devices[other].Memory
}
