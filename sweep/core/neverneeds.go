package core

import (
	"fmt"
	"strings"

	"mlframework/nvdocker"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// NeverFits says that no worker can ever give tasks what each of them needs.
type NeverFits struct {
	What string // the definition or the sweep
	Need task.Needs
	Has  []string // what workers have: "w1, w2: 2 x NVIDIA T4 with 15.0 GB"
	Most int      // how many such GPUs a worker can give to one task; fewer than Need.Count, or 0
}

func (e *NeverFits) Error() string {
	return fmt.Sprintf("each task of %s needs %s, which no worker can ever give: %s", e.What,
		NeedsText(e.Need), strings.Join(e.Has, "; "))
}

// Remedy returns what can be done about it. It names a smaller number only where one helps.
func (e *NeverFits) Remedy() string {
	switch {
	case e.Most > 0:
		return fmt.Sprintf("ask for fewer GPUs (`--gpus %d`, or gpus in tasks.yml), or add a "+
			"worker whose host has more such GPUs", e.Most)
	case e.Need.CPUs > 0 || e.Need.Memory > 0 || len(e.Need.On) > 0:
		return "change gpus, cpus, memory or on in tasks.yml, or add a worker whose host has that"
	}
	return "change gpus in tasks.yml, or add a worker whose host has such GPUs"
}

// NeedsText returns needs for people: "2 GPUs, 4 CPUs, 16.0 GB of memory and a host with
// disk=fast". "1 slot" where they are none.
func NeedsText(n task.Needs) string {
	var all []string
	if n.GPUs.Count > 0 {
		all = append(all, needOf(n.GPUs).String())
	}
	if n.CPUs > 0 {
		all = append(all, cpusText(n.CPUs))
	}
	if n.Memory > 0 {
		all = append(all, nvdocker.Size(n.Memory)+" of memory")
	}
	if len(n.On) > 0 {
		all = append(all, "a host with "+human.Visible(task.LabelsText(n.On)))
	}
	switch len(all) {
	case 0:
		return "1 slot"
	case 1:
		return all[0]
	}
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}

func cpusText(n int) string {
	if n == 1 {
		return "1 CPU"
	}
	return fmt.Sprintf("%d CPUs", n)
}

// CheckNeeds returns *NeverFits if no worker can ever give a task what it needs, as RefuseNeeds
// does. The worker of a local run may not have looked for GPUs yet: who submits there has done so.
func (c *Core) CheckNeeds(what string, need task.Needs) error {
	if need.None() || c.options.Local {
		return nil
	}
	return RefuseNeeds(what, need, c.Workers())
}

// RefuseNeeds returns *NeverFits if none of some workers can ever give a task what it needs. It
// returns nil if that is not certain, as while one is away or cannot list its GPUs, or if there is
// none.
func RefuseNeeds(what string, need task.Needs, workers []Worker) error {
	if need.None() || len(workers) == 0 {
		return nil
	}
	var has grouped
	most := 0
	for i := range workers {
		w := &workers[i]
		if w.unknown(need) {
			return nil
		}
		text := w.NeverFits(need)
		if text == "" {
			return nil
		}
		has.add(w.Name, text)
		most = max(most, MostGPUs(Devices(w.GPUs), need.GPUs))
	}
	return &NeverFits{what, need, has.lines(), most}
}

// GPUsUnknown reports whether it is not known what GPUs a worker has: nothing was heard of it, it
// cannot list them, or its program speaks another version than the master's.
func (w *Worker) GPUsUnknown() bool {
	return w.Seen == nil || w.State == WorkerAway || w.GPUFault != nil ||
		w.GPUs == nil && w.State == WorkerRefused
}

// unknown reports whether it is not known what the host of a worker has of what tasks need.
func (w *Worker) unknown(need task.Needs) bool {
	if need.GPUs.Count > 0 {
		return w.GPUsUnknown()
	}
	return w.Seen == nil || w.State == WorkerAway || w.State == WorkerRefused
}

// NeverFits returns what the host of a worker has that can never give a task what it needs; "": it
// can, or that is not known.
func (w *Worker) NeverFits(need task.Needs) string {
	if w.unknown(need) {
		return ""
	}
	return neverFits(w.CPUs, w.Memory, w.Labels, neverMeets(Devices(w.GPUs), need.GPUs), need)
}

// neverFits returns the host of the worker in words if it can never give a task what it needs; "":
// it can, or that is not known.
func (w *worker) neverFits(n *needs) string {
	if w.host == nil {
		return ""
	}
	gpus := ""
	if n.devices > 0 && w.beat.GPUFault == "" {
		gpus = w.gpus.meet(n.GPUs).never
	}
	return neverFits(w.beat.CPUs, w.beat.Memory, w.beat.Labels, gpus, n.Needs)
}

// neverFits returns what a host lacks of needs, in words; gpus says so of its GPUs.
func neverFits(cpus int, memory int64, labels map[string]string, gpus string,
	need task.Needs) string {
	var lacks []string
	if gpus != "" {
		lacks = append(lacks, gpus)
	}
	if need.CPUs > cpus && cpus > 0 {
		lacks = append(lacks, cpusText(cpus))
	}
	if need.Memory > memory && memory > 0 {
		lacks = append(lacks, nvdocker.Size(memory)+" of memory")
	}
	if missing := need.Lacks(labels); len(missing) > 0 {
		lacks = append(lacks, "not "+human.Visible(strings.Join(missing, ", ")))
	}
	return strings.Join(lacks, ", ")
}

// neverMeets returns devices in words if they can never meet a need; "": they can.
func neverMeets(devices []nvdocker.Device, need task.GPUs) string {
	return human.Visible(needOf(need).Never(devices))
}

// MostGPUs returns how many GPUs, of those that memory and name of a need allow, one task can get
// of devices, if they are fewer than the need's; else 0.
func MostGPUs(devices []nvdocker.Device, need task.GPUs) int {
	most := 0
	for n := 1; n < int(need.Count); n++ {
		fewer := need
		fewer.Count = float64(n)
		if needOf(fewer).Never(devices) != "" {
			break
		}
		most = n
	}
	return most
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
