package site

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"mlframework/cmd/internal/cli"
	"mlframework/infra"
	"mlframework/infra/plan"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// grid is a table for people: spaces between columns and no lines. Columns stand in order of
// importance.
type grid struct {
	heads []string
	rows  [][]string
}

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

// lines are the table's, without the last columns where it would be wider than width; 0 is any
// width.
func (g *grid) lines(width int) []string {
	for n := len(g.heads); ; n-- {
		lines := strings.Split(g.render(n), "\n")
		if width == 0 || n <= 2 || text.LongestLineLen(strings.Join(lines, "\n")) <= width {
			return lines
		}
	}
}

func (g *grid) render(columns int) string {
	t := table.NewWriter()
	s := table.StyleDefault
	s.Options = table.OptionsNoBordersAndSeparators
	s.Box.PaddingLeft, s.Box.PaddingRight = "", "  "
	s.Format.Header = text.FormatDefault
	t.SetStyle(s)
	t.SuppressTrailingSpaces()
	row := func(cells []string) (r table.Row) {
		for _, c := range cells[:min(columns, len(cells))] {
			r = append(r, cli.Visible(c))
		}
		return r
	}
	t.AppendHeader(row(g.heads))
	for _, r := range g.rows {
		t.AppendRow(row(r))
	}
	return t.Render()
}

// WriteTable prints a table for people as those of this package are.
func WriteTable(w io.Writer, heads []string, rows [][]string) error {
	_, err := fmt.Fprintln(w, (&grid{heads, rows}).render(len(heads)))
	return err
}

// WriteHosts prints the table of hosts and containers, with the workers' slots.
func (o *Overview) WriteHosts(w io.Writer) error {
	_, err := fmt.Fprintln(w, strings.Join(o.hosts().lines(0), "\n"))
	return err
}

func (o *Overview) hosts() *grid {
	g := &grid{heads: []string{"HOST", "ROLE", "STATE", "SINCE", "SLOTS", "BUSY", "GPUS"}}
	if !slices.ContainsFunc(o.Hosts, func(h infra.HostStatus) bool {
		return len(h.NVIDIA.GPUs) > 0
	}) {
		g.heads = g.heads[:len(g.heads)-1]
	}
	for _, h := range o.Hosts {
		switch {
		case !h.Reached:
			g.add(h.Name, "", "unreachable")
		case h.Problem != "":
			g.add(h.Name, "", "not known")
		case len(h.Containers) == 0:
			g.add(h.Name, "", "nothing runs")
		}
		for _, c := range h.Containers {
			g.add(o.container(h, c)...)
		}
	}
	return g
}

func (o *Overview) container(h infra.HostStatus, c infra.ContainerStatus) []string {
	cells := []string{h.Name, c.Role, c.State, o.age(c.Started)}
	if w, known := o.worker(h.Name); known && c.Role == plan.Worker {
		if c.State == "running" {
			cells[2] = w.State
		}
		cells = append(cells, strconv.Itoa(w.Slots), strconv.Itoa(len(w.Running)),
			gpuCount(h.NVIDIA))
	}
	return cells
}

// Tables are all tables, no line wider than width where that is not 0: tables lose their last
// columns, texts are wrapped.
func (o *Overview) Tables(width int) []string {
	all := append(wrapped("cluster "+o.Cluster+", master on "+o.Master, "", width), "")
	all = append(all, o.hosts().lines(width)...)
	all = append(all, o.gpus(width)...)
	if len(o.Workers) > 0 {
		all = append(append(all, ""), o.workers().lines(width)...)
	}
	if o.Broker != nil {
		all = append(append(all, ""), o.broker(width)...)
	}
	if len(o.Sweeps) > 0 {
		all = append(append(all, ""), o.sweeps().lines(width)...)
	}
	return all
}

// Verdict is what is wrong, with what to do about it, no line wider than width where that is not 0.
func (o *Overview) Verdict(width int) (all []string) {
	for _, w := range o.Workers {
		if w.Unconfined != nil && w.State != core.WorkerAway {
			all = append(all,
				wrapped(fmt.Sprintf("note: %s: tasks can reach what the worker has: %s", w.Name,
					*w.Unconfined), "", width)...)
		}
	}
	if o.Well {
		return append(all, "all is well")
	}
	for _, f := range o.Faults {
		all = append(all, wrapped(f.String(), "", width)...)
		all = append(all, wrapped(f.Remedy, "  ", width)...)
	}
	return all
}

// wrapped is text in lines that are no wider than width.
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

func (o *Overview) workers() *grid {
	g := &grid{heads: []string{"WORKER", "STATE", "SLOTS", "BUSY", "HEARD", "CPU", "MEMORY",
		"WAITING", "VERSION"}}
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
		g.add(w.Name, w.State, slots(w), strconv.Itoa(len(w.Running)), heard, cpu, memory,
			strconv.Itoa(w.Waiting), w.Program)
	}
	return g
}

func slots(w core.Worker) string {
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
	case b.Away:
		state = "away"
	case b.Blocked != nil:
		state = "takes nothing for now"
	}
	line := "broker " + state
	if b.Program != nil {
		line += ", " + *b.Program
	}
	if b.Since != nil {
		line += ", for " + o.age(*b.Since)
	}
	lines := wrapped(line, "", width)
	if len(b.Queues) == 0 {
		return lines
	}
	return append(lines, queues(b.Queues).lines(width)...)
}

func queues(all []api.Depth) *grid {
	g := &grid{heads: []string{"QUEUE", "READY", "UNACKED", "CONSUMERS"}}
	for _, q := range all {
		g.add(q.Queue, strconv.Itoa(q.Messages), cli.Known(q.Unacked), cli.Known(q.Consumers))
	}
	return g
}

func (o *Overview) sweeps() *grid {
	g := &grid{heads: []string{"SWEEP", "STATE", "DONE", "RUNNING", "FAILED", "PRIORITY",
		"SUBMITTED"}}
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
		g.add(s.ID, string(s.State), fmt.Sprintf("%d of %d", ended, s.Total),
			strconv.FormatInt(s.Counts["running"], 10), strconv.FormatInt(failed, 10),
			strconv.Itoa(s.Priority), o.age(s.Submitted)+" ago")
	}
	return g
}

// age is how long ago something was when the overview was made.
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
