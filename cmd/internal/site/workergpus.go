package site

import (
	"fmt"
	"slices"
	"strings"

	"mlframework/cmd/internal/cli"
	"mlframework/nvdocker"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// GPUs returns how many of its GPUs a worker has given to tasks, as "2 of 4"; "" if it has none, or
// is away.
func GPUs(w core.Worker) string {
	if !hasGPUs(w) {
		return ""
	}
	return fmt.Sprintf("%s of %d", human.Share(task.Given(w.GPUs)), len(w.GPUs))
}

// WorkerGPUs returns a table of a worker's GPUs: the memory and time in use on each, by any
// program, the share that tasks have been given, and the running tasks that have it.
func WorkerGPUs(w core.Worker) *cli.Table {
	t := cli.NewTable("GPU", "UUID", "GIVEN", "MEMORY", "USE", "TASKS", "NAME")
	for _, g := range w.GPUs[:min(len(w.GPUs), task.MaxShownGPUs)] {
		memory, use, name := "", known(g.Utilization, "%"), human.Truncate(g.Name)
		if g.Memory > 0 {
			memory = gigabytes(g.Memory)
			if g.Used != nvdocker.Unknown && !g.Split {
				memory = gigabytes(g.Used) + " of " + memory
			}
		}
		if g.Split { // how full and busy parts are drivers do not tell
			use, name = "", "part of "+name
		}
		t.Add(cli.Visible(g.Index), human.GPU(g.UUID), human.Share(g.Given), memory, use,
			human.ListFirst(tasksOn(w, g.UUID)), name)
	}
	if more := len(w.GPUs) - task.MaxShownGPUs; more > 0 {
		t.Add(fmt.Sprintf("%d more", more))
	}
	return t
}

// tasksOn returns the running tasks of a worker that have a GPU.
func tasksOn(w core.Worker, uuid string) (ids []string) {
	for _, b := range w.Running {
		if slices.Contains(b.GPUs, uuid) {
			ids = append(ids, task.ID{Sweep: b.Sweep, Index: b.Index}.String())
		}
	}
	return ids
}

// GPUsKept returns which GPUs a worker gives to no task now, and why, or why it cannot list them,
// in lines; nil: none.
func GPUsKept(w core.Worker) (lines []string) {
	if fault := listingFault(w); fault != "" {
		lines = append(lines, w.Name+": its GPUs cannot be listed: "+fault)
	}
	for _, k := range keptBy(w, func(g task.GPU) string { return human.GPU(g.UUID) }) {
		lines = append(lines, w.Name+": "+k.String())
	}
	return lines
}

// listingFault is why a worker cannot list its GPUs; "": it can, has told the reason with each, or
// is away.
func listingFault(w core.Worker) string {
	if w.GPUFault == nil || len(w.GPUs) > 0 || w.State == core.WorkerAway {
		return ""
	}
	return human.Truncate(*w.GPUFault)
}

// keptGPUs are GPUs that a worker gives to no task now, for the same reason.
type keptGPUs struct {
	names  []string
	why    string
	broken bool // they do not work
}

// Of a worker so many GPUs with the same trouble are named, and so many reasons are told: what it
// makes up fills no terminal.
const (
	namesShown   = 8
	reasonsShown = 8
)

func (k keptGPUs) String() string {
	text := strings.Join(k.names[:min(len(k.names), namesShown)], ", ")
	if more := len(k.names) - namesShown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	is := "is"
	if len(k.names) > 1 {
		is = "are"
	}
	return fmt.Sprintf("%s %s not given to tasks: %s", text, is, k.why)
}

// keptBy returns the GPUs that a worker gives to no task now, but for those without a name; first
// those that do not work.
func keptBy(w core.Worker, name func(task.GPU) string) (all []keptGPUs) {
	if !hasGPUs(w) {
		return nil
	}
	for _, g := range w.GPUs {
		if g.Unavailable == "" {
			continue
		}
		called := name(g)
		if called == "" {
			continue
		}
		i := slices.IndexFunc(all, func(k keptGPUs) bool {
			return k.why == g.Unavailable && k.broken == g.Broken
		})
		if i < 0 {
			i = len(all)
			all = append(all, keptGPUs{why: g.Unavailable, broken: g.Broken})
		}
		all[i].names = append(all[i].names, called)
	}
	slices.SortStableFunc(all, func(a, b keptGPUs) int {
		switch {
		case a.broken == b.broken:
			return 0
		case a.broken:
			return -1
		}
		return 1
	})
	for i := range all {
		all[i].why = human.Truncate(all[i].why)
	}
	if len(all) > reasonsShown {
		rest := all[reasonsShown]
		for _, k := range all[reasonsShown+1:] {
			rest.names = append(rest.names, k.names...)
		}
		rest.why = "for other reasons: run-tasks workers show " + w.Name + " --json"
		all = append(all[:reasonsShown], rest)
	}
	return all
}

// hasGPUs reports whether it is known now that a worker has GPUs: what an away one told of them
// last may not be so any more, and its tasks have been given to others.
func hasGPUs(w core.Worker) bool { return len(w.GPUs) > 0 && w.State != core.WorkerAway }
