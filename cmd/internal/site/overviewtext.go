package site

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"mlframework/cmd/internal/cli"
	"mlframework/infra"
	"mlframework/infra/plan"
	"mlframework/sweep/core"
	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

// WriteHosts prints the table of hosts and containers, with the workers' slots.
func (o *Overview) WriteHosts(w io.Writer) error {
	return o.hosts().Write(w)
}

func (o *Overview) hosts() *cli.Table {
	g := cli.NewTable("HOST", "ROLE", "STATE", "SINCE", "SLOTS", "BUSY", "LOAD", "DISK", "GPUS")
	for _, h := range o.Hosts {
		switch {
		case !h.Reached:
			g.Add(h.Name, "", "unreachable")
		case h.Problem != "":
			g.Add(h.Name, "", "not known")
		case h.Outputs:
			g.Add(h.Name, "", "only has outputs")
		case len(h.Containers)+len(h.Wanted) == 0:
			g.Add(h.Name, "", "nothing runs")
		}
		var rows [][]string
		for _, c := range h.Containers {
			rows = append(rows, o.container(h, c))
		}
		for _, role := range h.Wanted {
			if h.Reached && h.Problem == "" &&
				!slices.ContainsFunc(h.Containers, func(c infra.ContainerStatus) bool {
					return c.Role == role
				}) {
				rows = append(rows, []string{h.Name, role, "missing"})
			}
		}
		for i, cells := range rows {
			if i == 0 { // the host's own values are shown once
				cells = hostCells(cells, h)
			}
			g.Add(cells...)
		}
	}
	g.OmitEmpty("GPUS")
	return g
}

// hostCells appends the values of a host to the cells of one of its containers.
func hostCells(cells []string, h infra.HostStatus) []string {
	gpus := hostGPUs(h)
	for len(cells) < 6 {
		cells = append(cells, "")
	}
	load := ""
	if h.Cores > 0 {
		load = fmt.Sprintf("%.1f of %d", h.Load, h.Cores)
	}
	return append(cells, load, gigabytes(h.Free)+" free", gpus)
}

func (o *Overview) container(h infra.HostStatus, c infra.ContainerStatus) []string {
	cells := []string{h.Name, c.Role, c.State, o.age(c.Started)}
	if w, known := o.worker(h.Name); known && c.Role == plan.Worker {
		if c.State == "running" {
			cells[2] = w.State
		}
		cells = append(cells, strconv.Itoa(w.Slots), strconv.Itoa(len(w.Running)))
	}
	return cells
}

// Tables returns the lines of all tables. With a width other than 0 no line is wider: tables lose
// their last columns, and texts are wrapped.
func (o *Overview) Tables(width int) []string {
	all := append(wrapped("cluster "+o.Cluster+", master on "+o.Master, "", width), "")
	all = append(all, o.hosts().Lines(width)...)
	all = append(all, o.gpus(width)...)
	if len(o.Images) > 0 {
		all = append(append(all, ""), o.images().Lines(width)...)
	}
	if len(o.Workers) > 0 {
		all = append(append(all, ""), o.workers().Lines(width)...)
	}
	if o.Broker != nil {
		all = append(append(all, ""), o.broker(width)...)
	}
	if len(o.Sweeps) > 0 {
		all = append(append(all, ""), o.sweeps().Lines(width)...)
	}
	return all
}

// Verdict returns what is wrong and what to do about it, in lines that are no wider than width
// unless that is 0.
func (o *Overview) Verdict(width int) (all []string) {
	for _, w := range o.Workers {
		if w.Unconfined != nil && w.State != core.WorkerAway {
			all = append(all,
				wrapped(fmt.Sprintf("note: %s: tasks can reach what the worker has: %s", w.Name,
					*w.Unconfined), "", width)...)
		}
	}
	for _, h := range o.Hosts {
		all = append(all, wrapped(o.shared(h), "", width)...)
		if h.ClockSkew.Abs() > plan.MaxClockSkew {
			all = append(all, wrapped(fmt.Sprintf("warning: %s: its clock differs from this "+
				"machine's by %v: %s", h.Name, h.ClockSkew, plan.ClockRemedy), "", width)...)
		}
	}
	all = append(all, wrapped(o.versions(), "", width)...)
	if o.Well {
		return append(all, "all is well")
	}
	for _, f := range o.Faults {
		all = append(all, wrapped(f.String(), "", width)...)
		all = append(all, wrapped(f.Remedy, "  ", width)...)
	}
	return all
}

// shared returns which other clusters have workers on a host; "" if none has.
func (o *Overview) shared(h infra.HostStatus) string {
	if len(h.Others) == 0 {
		return ""
	}
	w, _ := o.worker(h.Name)
	sum := w.Slots
	var others []string
	for _, other := range h.Others {
		sum += other.Slots
		others = append(others, fmt.Sprintf("cluster %s of %s (slots: %d)", other.Cluster,
			other.Owner, other.Slots))
	}
	text := fmt.Sprintf("note: %s is also used by %s", h.Name, strings.Join(others, ", "))
	if h.Cores > 0 && sum > h.Cores {
		text += fmt.Sprintf(": %d slots on %d cores", sum, h.Cores)
	}
	return text
}

// versions returns how the cluster's version differs from this program's; "" if it is the same.
func (o *Overview) versions() string {
	switch o.program {
	case o.here:
		return ""
	case "":
		return fmt.Sprintf("note: the cluster runs a release older than this program, %s; "+
			"infrainit -f updates it", o.here)
	}
	order, known := plan.CompareVersions(o.program, o.here)
	what := "another version than"
	switch {
	case known && order > 0:
		what = "newer than"
	case known && order < 0:
		what = "older than"
	}
	text := fmt.Sprintf("note: the cluster runs %s, %s this program, %s", o.program, what, o.here)
	if order < 0 {
		text += "; infrainit -f updates it"
	}
	return text
}

// wrapped returns a text in lines that are no wider than width.
func wrapped(words, indent string, width int) (lines []string) {
	for l := range strings.Lines(cli.VisibleLines(words)) {
		l = strings.TrimSpace(l)
		if room := width - len(indent); width > 0 && room > 0 {
			l = text.WrapSoft(l, room)
		}
		for part := range strings.Lines(l) {
			lines = append(lines, indent+strings.TrimRight(part, " \n"))
		}
	}
	return lines
}

func (o *Overview) images() *cli.Table {
	g := cli.NewTable("IMAGE", "DIGEST")
	for _, i := range o.Images {
		g.Add(i.Ref, i.String())
	}
	return g
}

func (o *Overview) workers() *cli.Table {
	g := cli.NewTable("WORKER", "STATE", "SLOTS", "BUSY", "GPUS", "HEARD", "CPU", "MEMORY",
		"WAITING", "TASKS", "VERSION")
	for _, w := range o.Workers {
		heard, cpu, memory := "", "", ""
		if w.Seen != nil {
			heard = o.age(*w.Seen) + " ago"
		}
		if l := w.Load; l != nil {
			cpu = fmt.Sprintf("%.0f%%", 100*l.CPU)
			memory = fmt.Sprintf("%s of %s", gigabytes(l.MemoryTotal-l.MemoryFree),
				gigabytes(l.MemoryTotal))
		}
		g.Add(w.Name, w.State, Slots(w), strconv.Itoa(len(w.Running)), GPUs(w), heard, cpu, memory,
			strconv.Itoa(w.Waiting), runningTasks(w), w.Program)
	}
	g.OmitEmpty("GPUS")
	return g
}

// runningTasks names the first two tasks that a worker runs, and counts the rest.
func runningTasks(w core.Worker) string {
	const shown = 2
	var names []string
	for _, b := range w.Running[:min(shown, len(w.Running))] {
		names = append(names, task.ID{Sweep: b.Sweep, Index: b.Index}.String())
	}
	text := strings.Join(names, ", ")
	if more := len(w.Running) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Slots returns the number of slots of a worker, and the wanted number if that differs.
func Slots(w core.Worker) string {
	text := strconv.Itoa(w.Slots)
	if w.Wanted != nil && *w.Wanted != w.Slots {
		text += fmt.Sprintf(" (%d wanted)", *w.Wanted)
	}
	return text
}

func gigabytes(bytes int64) string { return fmt.Sprintf("%.1fG", float64(bytes)/(1<<30)) }

func (o *Overview) broker(width int) []string {
	b := o.Broker
	state := "reached"
	switch {
	case b.Unreachable:
		state = "away"
	case b.Blocked != nil:
		state = "blocked"
	}
	line := "broker " + state
	if b.Program != nil {
		line += ", " + *b.Program
	}
	if b.Since != nil {
		line += ", for " + o.age(*b.Since)
	}
	if b.Refused != nil && *b.Refused > 0 {
		line += fmt.Sprintf(", refused messages: %d (its master's log has them)", *b.Refused)
	}
	lines := wrapped(line, "", width)
	if len(b.Queues) == 0 {
		return lines
	}
	return append(lines, Queues(b.Queues).Lines(width)...)
}

// Queues returns a table of the broker's queues.
func Queues(all []queue.Depth) *cli.Table {
	g := cli.NewTable("QUEUE", "READY", "UNACKED", "CONSUMERS")
	for _, q := range all {
		g.Add(q.Queue, strconv.Itoa(q.Messages), cli.Known(q.Unacked), cli.Known(q.Consumers))
	}
	return g
}

func (o *Overview) sweeps() *cli.Table {
	g := cli.NewTable("SWEEP", "STATE", "DONE", "RUNNING", "FAILED", "PRIORITY", "SUBMITTED")
	for _, s := range o.Sweeps {
		var ended, failed int64
		for _, state := range task.States {
			n := s.Counts[state.String()]
			if state.Terminal() {
				ended += n
			}
			if state.Failure() {
				failed += n
			}
		}
		g.Add(s.ID, string(s.State), fmt.Sprintf("%d of %d", ended, s.Total),
			strconv.FormatInt(s.Counts["running"], 10), strconv.FormatInt(failed, 10),
			strconv.Itoa(s.Priority), o.age(s.Submitted)+" ago")
	}
	return g
}

// age returns how long before the overview something was.
func (o *Overview) age(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	d := max(0, o.Time.Sub(t))
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
