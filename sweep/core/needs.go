package core

import (
	"math"

	"mlframework/nvdocker"
	"mlframework/sweep/task"
)

// gpuUnits is a whole GPU: a number of which every share, from 1/2 to 1/16, is a whole part, so
// that three thirds are one.
const gpuUnits = 720720

// needs are what each task of a sweep needs, as placement counts it.
type needs struct {
	task.Needs
	reserved bool      // something of the host is kept for a task: no task waits on a worker for it
	devices  int       // GPUs of each task; of all GPUs of a host 1; 0: none
	units    int       // gpuUnits of each device; 0 where it follows from the memory of the device
	kind     needKinds // a bit, once a core has the sweep
}

func newNeeds(n task.Needs) needs {
	is := needs{Needs: n, reserved: n.Reserved()}
	if count := n.GPUs.Count; count > 0 {
		is.devices = int(max(1, count))
		if !n.GPUs.Share {
			is.units = int(math.Round(min(1, count) * gpuUnits))
		}
	}
	return is
}

// of returns the gpuUnits that a task takes of a device.
func (n *needs) of(d *nvdocker.Device) int {
	if n.GPUs.Share {
		return gpuUnits / needOf(n.GPUs).Sharers(*d)
	}
	return n.units
}

// exceeds reports whether a task needs more of something than one of another sweep, so that the
// tasks of that sweep may take what becomes free before there is enough for it.
func (n *needs) exceeds(other *needs) bool {
	return n.gpuSize() > other.gpuSize() || n.CPUs > max(1, other.CPUs) || n.Memory > other.Memory
}

// gpuSize orders needs of GPUs by how much has to be free at a time.
func (n *needs) gpuSize() int {
	switch {
	case n.GPUs.All:
		return math.MaxInt
	case n.GPUs.Share:
		return 1
	}
	return n.devices * n.units
}

// needOf returns what a task needs of GPUs, as nvdocker has it.
func needOf(g task.GPUs) nvdocker.Need { return nvdocker.Need(g) }

// slotsFor returns how many slots of the worker a task takes. By default the slots are the cores of
// the host, of which a task with GPUs takes only its CPUs. On probation a worker has one slot, which
// any task takes.
func (w *worker) slotsFor(n *needs) int {
	switch {
	case w.beat.SlotsChosen || w.quarantine.probation:
		return 1
	case n.CPUs > 0:
		return n.CPUs
	case n.devices > 0:
		return 0
	}
	return 1
}

// taken returns the slots that the tasks of a worker take.
func (w *worker) taken() (slots int) {
	for _, h := range w.assigned {
		slots += w.slotsFor(&h.sweep.ledger.needs) * h.tasks
	}
	return slots
}

// fits returns how many tasks that take so many slots each fit into free ones.
func fits(free, each int) int {
	if each == 0 {
		return math.MaxInt
	}
	return max(0, free) / each
}
