package monitor

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// refreshOutput is how often what a running task prints is looked at.
const refreshOutput = time.Second

// taskView is one task.
type taskView struct {
	ID, Sweep, SweepURL string
	Index               int64
	Actions             []button // of operators
	Prev, Next          *tab     // the tasks before and after it in the sweep; nil: none
	State               string
	Why                 string // it failed, or waits
	Alike               *alikeLine
	Facts               []string // where and when it runs
	Output              *outputView
	Curve               *curve
	Parameters, Metrics []value
	Command             command
	Neighbours          []neighbourLine
	Objective           string // of Neighbours
	Attempts            []attemptLine
	HasGPUs             bool // any of them
}

// attemptLine is a try at a task in words.
type attemptLine struct {
	Number              int
	URL                 string // its output
	Class, Why          string
	Worker, GPUs        string
	Started             *time.Time
	Took, Revision      string
	Superseded, Resumed bool
}

// taskOf returns the task that a path names.
func taskOf(r *request) (task.ID, error) {
	index, err := strconv.ParseInt(r.PathValue("index"), 10, 64)
	if err != nil || index < 0 {
		return task.ID{}, &fault{http.StatusNotFound, "There is no such task.",
			"Tasks have whole numbers, from 0."}
	}
	return task.ID{Sweep: r.PathValue("sweep"), Index: index}, nil
}

func (m *Monitor) loadTask(r *request) (*content, error) {
	id, err := taskOf(r)
	if err != nil {
		return nil, err
	}
	s, err := m.askSweep(r.Context(), id.Sweep, r.version)
	if err != nil {
		return nil, err
	}
	id.Sweep = s.value.ID // of the newest
	t, err := ask(r.Context(), m.answers, "task "+id.String(), r.version,
		func(ctx context.Context) (api.Task, error) {
			return m.o.Master.Task(ctx, id.Sweep, id.Index)
		})
	if err != nil {
		return nil, err
	}
	row := t.value.Row
	running := row.State == task.Running.String()
	v := taskView{ID: human.Visible(row.ID), Sweep: human.Visible(id.Sweep),
		SweepURL: m.sweepURL(id.Sweep), Index: id.Index, State: row.State,
		Why: human.Visible(whyOf(s.value.Summary, t.value)), Facts: facts(t.value, t.asOf),
		Command:    commandOf(s.value, &row, "command"),
		Attempts:   m.attempts(id, t.value),
		Curve:      curveOf(s.value.Record.Objective.Metric, t.value.Series),
		Parameters: parametersOf(row.Parameters), Metrics: metricsOf(row.Metrics)}
	v.HasGPUs = slices.ContainsFunc(v.Attempts, func(a attemptLine) bool { return a.GPUs != "" })
	v.Prev, v.Next = m.siblings(s.value, id)
	v.Actions = m.taskButtons(r, id, row.State)
	if v.Output, err = m.outputOf(r, t.value, id, running); err != nil {
		return nil, err
	}
	if v.Alike, err = m.alike(r, s.value, row); err != nil {
		return nil, err
	}
	if err := m.addNeighbours(r, &v, s.value, id); err != nil {
		return nil, err
	}
	c := m.warned(r, &content{title: v.ID, view: v, asOf: t.asOf})
	if running {
		c.refresh = refreshOutput
	}
	return c, nil
}

func (m *Monitor) askSweep(ctx context.Context, id string, version int64) (reply[api.Sweep], error) {
	return ask(ctx, m.answers, "sweep "+id, version,
		func(ctx context.Context) (api.Sweep, error) { return m.o.Master.Sweep(ctx, id, false) })
}

// whyOf returns why a task is in its state; "": it says that by itself.
func whyOf(s core.Summary, t api.Task) string {
	switch state, _ := task.ParseState(t.Row.State); {
	case state.Terminal():
		if n := len(t.Attempts); n > 0 && state.Failure() {
			return human.WithFrame(t.Row.Reason, t.Attempts[n-1].Frame)
		}
		return t.Row.Reason
	case state != task.Pending || s.State != core.Open:
		return t.WaitsFor(s)
	default:
		if why := t.WaitsFor(s); why != "" {
			return why
		}
		if n := s.Counts[task.Running.String()]; n != 1 {
			return "waits for its turn: " + count(n) + " tasks of the sweep run"
		}
		return "waits for its turn: 1 task of the sweep runs"
	}
}

// facts returns where and when the newest attempt of a task runs or ran.
func facts(t api.Task, now time.Time) (all []string) {
	n := len(t.Attempts)
	if n == 0 {
		return nil
	}
	a := t.Attempts[n-1]
	number := fmt.Sprintf("attempt %d", a.Attempt)
	if state, _ := task.ParseState(t.Row.State); a.Class != nil && !state.Terminal() {
		number = "will run again; below is " + number
		if a.Reason != nil && *a.Reason != "" {
			number += ": " + human.Visible(human.WithFrame(*a.Reason, a.Frame))
		}
	}
	all = append(all, number)
	if where := workerText(a); where != "" {
		all = append(all, where)
	}
	for _, g := range a.GPUs {
		all = append(all, human.GPU(g.UUID))
	}
	if a.Started != nil {
		all = append(all, "began "+moment(*a.Started))
	}
	switch {
	case a.Class == nil && a.Started != nil:
		all = append(all, "for "+seconds(max(0, now.Sub(*a.Started)))+" now")
	case a.Duration != nil:
		all = append(all, "took "+human.Duration(*a.Duration))
	}
	return all
}

// workerText is "gpu1, slot 0", or the worker's name too where that is another.
func workerText(a api.Attempt) string {
	text := human.Visible(a.Worker)
	if a.Host != nil && *a.Host != a.Worker {
		text += " on " + human.Visible(*a.Host)
	}
	if a.Slot != nil {
		text += ", slot " + strconv.Itoa(*a.Slot)
	}
	return text
}

// attempts returns the attempts of a task, the newest first.
func (m *Monitor) attempts(id task.ID, t api.Task) (lines []attemptLine) {
	for i := len(t.Attempts) - 1; i >= 0; i-- {
		a := t.Attempts[i]
		l := attemptLine{Number: a.Attempt, Class: "running", Worker: workerText(a),
			Started: a.Started, Revision: shortRevision(a.Revision), Superseded: a.Superseded,
			Resumed: a.Resumed,
			URL:     m.taskURL(id.Sweep, id.Index) + "?attempt=" + strconv.Itoa(a.Attempt)}
		if a.Class != nil {
			l.Class = human.Visible(string(*a.Class))
		}
		if a.Reason != nil && *a.Reason != l.Class {
			l.Why = human.Truncate(human.Visible(*a.Reason))
		}
		if a.Duration != nil {
			l.Took = human.Duration(*a.Duration)
		}
		for n, g := range a.GPUs {
			if n > 0 {
				l.GPUs += ", "
			}
			l.GPUs += human.GPU(g.UUID)
		}
		lines = append(lines, l)
	}
	return lines
}

// siblings returns the tasks before and after one in its sweep.
func (m *Monitor) siblings(s api.Sweep, id task.ID) (prev, next *tab) {
	at := func(ordinal int64) *tab {
		if ordinal < 0 || ordinal >= s.Total {
			return nil
		}
		index := s.Record.Ranges.At(ordinal)
		return &tab{Label: strconv.FormatInt(index, 10), URL: m.taskURL(id.Sweep, index)}
	}
	n, ok := s.Record.Ranges.Ordinal(id.Index)
	if !ok {
		return nil, nil
	}
	return at(n - 1), at(n + 1)
}
