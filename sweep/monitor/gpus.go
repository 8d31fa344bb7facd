package monitor

import (
	"fmt"
	"slices"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// gpuLine is a GPU of a worker, or a part of one.
type gpuLine struct {
	Worker, Name, UUID, Short string
	State                     string // tasks, busy, unfit, free
	Reason                    string // why it is busy or unfit
	Given                     string // what tasks have of it, "1" or "0.5"; "": nothing
	Memory, Use               gauge
	Tasks                     []attempt // that run on it
}

// addGPUs adds the GPUs of workers that are not away: what those have is not known.
func (m *Monitor) addGPUs(v *workersView, all []core.Worker, now time.Time) {
	given, n := 0., 0
	for _, w := range all {
		if w.State == core.WorkerAway {
			continue
		}
		given, n = given+task.Given(w.GPUs), n+len(w.GPUs)
		for _, g := range w.GPUs[:min(len(w.GPUs), task.MaxShownGPUs)] {
			line := gpuOf(w.Name, g)
			for _, b := range w.Running {
				if slices.Contains(b.GPUs, g.UUID) {
					line.Tasks = append(line.Tasks, m.attempt(b, now))
				}
			}
			v.GPUs = append(v.GPUs, line)
		}
	}
	v.GPUsLeft = int64(n - len(v.GPUs))
	if n > 0 {
		v.GPUsGiven = fmt.Sprintf("%s of %d GPUs", human.Share(given), n)
	}
}

func gpuOf(worker string, g task.GPU) gpuLine {
	l := gpuLine{Worker: human.Visible(worker), Name: human.Visible(g.Name),
		UUID: human.Visible(g.UUID), Short: human.GPU(g.UUID), State: "free",
		Reason: human.Truncate(human.Visible(g.Unavailable))}
	if g.Split {
		l.Name = "part of " + l.Name
		if g.Memory > 0 {
			l.Name += ", " + size(g.Memory)
		}
	}
	if g.Utilization >= 0 && !g.Split { // of parts drivers do not tell
		l.Use = full(int64(g.Utilization), 100, "")
	}
	if g.Memory > 0 && g.Used >= 0 && !g.Split {
		l.Memory = full(g.Used, g.Memory, size(g.Used)+" of "+size(g.Memory)+" used")
	}
	if g.Given > 0 {
		l.State, l.Given = "tasks", human.Share(g.Given)
	}
	switch {
	case g.Broken:
		l.State = "unfit"
	case g.Unavailable != "":
		l.State = "busy"
	}
	return l
}
