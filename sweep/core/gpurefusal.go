package core

import (
	"errors"
	"fmt"
	"strings"

	"mlframework/nvdocker"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// NeverGPUs says that no worker can ever give tasks the GPUs that each of them needs.
type NeverGPUs struct {
	What string // the definition or the sweep
	Need task.GPUs
	Has  []string // what workers have: "w1, w2: 2 x NVIDIA T4 with 15.0 GB"
	Most int      // how many such GPUs a worker can give to one task; fewer than Need.Count, or 0
}

func (e *NeverGPUs) Error() string {
	return fmt.Sprintf("each task of %s needs %v, which no worker can ever give: %s", e.What,
		needOf(e.Need), strings.Join(e.Has, "; "))
}

// Remedy returns what can be done about it. It names a smaller number only where one helps.
func (e *NeverGPUs) Remedy() string {
	if e.Most > 0 {
		return fmt.Sprintf("ask for fewer GPUs (`--gpus %d`, or gpus in tasks.yml), or add a "+
			"worker whose host has more such GPUs", e.Most)
	}
	return "change gpus in tasks.yml, or add a worker whose host has such GPUs"
}

// CheckGPUs returns *NeverGPUs if no worker can ever give a task the GPUs that it needs, as
// RefuseGPUs does. The worker of a local run may not have looked for GPUs yet: who submits there
// has done so.
func (c *Core) CheckGPUs(what string, need task.GPUs) error {
	if need == (task.GPUs{}) || c.options.Local {
		return nil
	}
	return RefuseGPUs(what, need, c.Workers())
}

// RefuseGPUs returns *NeverGPUs if none of some workers can ever give a task the GPUs that it
// needs. It returns nil if that is not certain, as while one is away or cannot list its GPUs, or if
// there is none.
func RefuseGPUs(what string, need task.GPUs, workers []Worker) error {
	if need == (task.GPUs{}) || len(workers) == 0 {
		return nil
	}
	var has grouped
	most := 0
	for i := range workers {
		w := &workers[i]
		if w.GPUsUnknown() {
			return nil
		}
		text := w.NeverMeets(need)
		if text == "" {
			return nil
		}
		has.add(w.Name, text)
		most = max(most, MostGPUs(Devices(w.GPUs), need))
	}
	return &NeverGPUs{what, need, has.lines(), most}
}

// GPUsUnknown reports whether it is not known what GPUs a worker has: nothing was heard of it, it
// cannot list them, or its program speaks another version than the master's.
func (w *Worker) GPUsUnknown() bool {
	return w.Seen == nil || w.State == WorkerAway || w.GPUFault != nil ||
		w.GPUs == nil && w.State == WorkerRefused
}

// NeverMeets returns what a worker has that can never give a task the GPUs that it needs; "": it
// can, or that is not known.
func (w *Worker) NeverMeets(need task.GPUs) string {
	if need == (task.GPUs{}) || w.GPUsUnknown() {
		return ""
	}
	return neverMeets(Devices(w.GPUs), need)
}

// neverMeets returns devices in words if they can never meet a need; "": they can.
func neverMeets(devices []nvdocker.Device, need task.GPUs) string {
	_, err := nvdocker.Assign(devices, nil, needOf(need))
	if never, ok := errors.AsType[*nvdocker.NeverError](err); ok {
		return human.Visible(never.Has)
	} else if err != nil {
		return human.Visible(err.Error())
	}
	return ""
}

// MostGPUs returns how many GPUs, of those that memory and name of a need allow, one task can get
// of devices, if they are fewer than the need's; else 0.
func MostGPUs(devices []nvdocker.Device, need task.GPUs) int {
	most := 0
	for n := 1; n < int(need.Count); n++ {
		fewer := need
		fewer.Count = float64(n)
		if _, err := nvdocker.Assign(devices, nil, needOf(fewer)); err != nil {
			break
		}
		most = n
	}
	return most
}

// Devices returns GPUs of a worker as nvdocker has them.
func Devices(gpus []task.GPU) (all []nvdocker.Device) {
	for i := range gpus {
		all = append(all, deviceOf(&gpus[i]))
	}
	return all
}

// grouped collects texts about workers, and puts together those that have the same. The zero value
// is empty.
type grouped struct {
	texts   []string
	workers map[string][]string // by text
}

func (g *grouped) add(worker, text string) {
	if g.workers == nil {
		g.workers = map[string][]string{}
	}
	if len(g.workers[text]) == 0 {
		g.texts = append(g.texts, text)
	}
	g.workers[text] = append(g.workers[text], worker)
}

// maxNamed is how many workers, and how many of the texts about them, are named.
const maxNamed = 8

// lines returns each text with who it is about.
func (g *grouped) lines() (all []string) {
	left := 0
	for i, text := range g.texts {
		workers := g.workers[text]
		if i >= maxNamed {
			left += len(workers)
			continue
		}
		names := workers[:min(len(workers), maxNamed)]
		line := strings.Join(names, ", ")
		if more := len(workers) - len(names); more > 0 {
			line += fmt.Sprintf(" and %d more", more)
		}
		all = append(all, line+": "+text)
	}
	if left > 0 {
		all = append(all, fmt.Sprintf("and %d more workers", left))
	}
	return all
}
