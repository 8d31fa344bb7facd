package monitor

import (
	"fmt"
	"strings"

	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// gpuPlace returns a GPU of a worker, or a part of one, in words.
func gpuPlace(g task.GPU) placeLine {
	l := placeLine{GPU: true, Key: human.Visible(g.UUID), Title: human.Visible(g.UUID),
		Name: human.GPU(g.UUID), Model: human.Visible(g.Name), State: "free",
		Reason: human.Truncate(human.Visible(g.Unavailable))}
	if g.Index != "" {
		l.Name = "GPU " + human.Visible(g.Index)
	}
	if g.Split {
		l.Model = "part of " + l.Model
		if g.Memory > 0 {
			l.Model += ", " + size(g.Memory)
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

// hardware returns the GPUs of a worker by their names, "2 × A100, 1 × L4".
func hardware(gpus []task.GPU) string {
	var names []string
	counts := map[string]int{}
	for _, g := range gpus[:min(len(gpus), task.MaxShownGPUs)] {
		if counts[g.Name]++; counts[g.Name] == 1 {
			names = append(names, g.Name)
		}
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%d × %s", counts[name], human.Visible(name))
	}
	return human.Truncate(strings.Join(names, ", "))
}
