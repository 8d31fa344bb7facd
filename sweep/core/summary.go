package core

import (
	"slices"
	"strconv"
	"time"

	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// Summary is a sweep as people and programs are shown it. Its JSON names are a contract.
type Summary struct {
	ID         string           `json:"id"`
	Definition string           `json:"definition"`
	State      State            `json:"state"`
	Reason     *string          `json:"reason"`
	Waits      *string          `json:"waits"`     // why no task can start now
	Silent     *string          `json:"silent"`    // which of its workers send no heartbeat
	Submitted  time.Time        `json:"submitted"` // UTC
	Ended      *time.Time       `json:"ended"`
	Ran        float64          `json:"ran"`   // seconds in which workers had tasks of it; see Head
	Bytes      int64            `json:"bytes"` // of its outputs, as last known
	Total      int64            `json:"total"`
	Counts     map[string]int64 `json:"counts"`   // tasks by state; every state is there
	Revision   string           `json:"revision"` // "": it cannot be read; see Reason
	Project    string           `json:"project"`
	Priority   int              `json:"priority"`
	// Images are those that its attempts ran in, with digests; empty: no container, or none ran.
	Images []string `json:"images"`
}

// RanFor returns how long a sweep that has ended ran, without the time in which it waited or was
// paused.
func (s Summary) RanFor() time.Duration {
	if s.Ran == 0 { // it was not counted
		return s.Ended.Sub(s.Submitted)
	}
	return time.Duration(s.Ran * float64(time.Second))
}

// Outline is what a summary shows of a record. Its JSON is how the store keeps it beside the
// record, so that a list of sweeps reads no records.
type Outline struct {
	Definition string   `json:"-"`
	Revision   string   `json:"revision"`
	Project    string   `json:"project"`
	Priority   int      `json:"priority"`
	Images     []string `json:"images"`
	// Notices says that there are some to be sent.
	Notices bool   `json:"notices,omitempty"`
	After   string `json:"after,omitempty"` // as in Record
}

// Outline returns what a summary shows of the record.
func (r Record) Outline() Outline {
	return Outline{Definition: r.Recipe.Definition, Revision: r.Recipe.Revision, Project: r.Project,
		Priority: r.Priority, Images: append([]string{}, r.Images.Names()...),
		Notices: len(r.PendingNotices()) > 0, After: r.After}
}

// Summary is the sweep of a record as it stands.
func (r Record) Summary(h Head) Summary { return r.Outline().Summary(h) }

// Summary is the sweep of an outline as it stands.
func (o Outline) Summary(h Head) Summary {
	s := Summary{ID: h.ID, Definition: o.Definition, State: h.State, Submitted: h.Submitted.UTC(),
		Ran: h.Ran.Truncate(precision).Seconds(), Bytes: h.Bytes, Total: h.Total, Counts: map[string]int64{},
		Revision: o.Revision, Project: o.Project, Priority: o.Priority, Images: o.Images}
	if h.Reason != "" {
		s.Reason = &h.Reason
	}
	if h.Waits != "" && h.State == Open {
		s.Waits = &h.Waits
	}
	if h.Silent != "" {
		s.Silent = &h.Silent
	}
	if !h.Ended.IsZero() {
		s.Ended = &h.Ended
	}
	counts := h.Counts()
	for _, state := range task.States {
		s.Counts[state.String()] = counts[state]
	}
	return s
}

// Rows returns what makes tasks of the sweep rows of results. A task that has no row in the store
// is the zero Task but for Index and State. It is safe for concurrent use.
func (r Record) Rows(id string) func(Task) table.Row {
	fill := r.Fill(id, table.AllFields)
	return func(t Task) (row table.Row) {
		fill(&row, &t)
		return row
	}
}

// Fill returns what writes fields of tasks, and their index, into rows. A row points to what its
// task's outcome does. It is safe for concurrent use.
func (r Record) Fill(id string, fields table.Fields) func(*table.Row, *Task) {
	points := r.Points()
	command := r.Recipe.ExpandCommand(task.PlaceholderValues{}, nil)
	// Without placeholders the command is the same wherever an attempt runs.
	same := !slices.ContainsFunc(r.Recipe.Command, task.HasPlaceholders)
	return func(row *table.Row, t *Task) {
		*row = table.Row{Index: t.Index}
		if fields.Has(table.FieldID) {
			row.ID = task.ID{Sweep: id, Index: t.Index}.String()
			row.Sweep, row.Definition = id, r.Recipe.Definition
		}
		if fields.Has(table.FieldParameters) {
			row.Parameters = points.Parameters(t.Index)
		}
		if fields.Has(table.FieldArgv) {
			command := command
			if !same {
				command = r.Recipe.ExpandCommand(placeOf(id, t), points.Given(t.Index))
			}
			row.Argv = points.Flags(slices.Clip(command), t.Index)
		}
		r.fill(row, t, fields)
	}
}

// placeOf returns what is known of where a task runs or ran.
func placeOf(sweep string, t *Task) task.PlaceholderValues {
	p := task.PlaceholderValues{Index: strconv.FormatInt(t.Index, 10),
		Task: task.ID{Sweep: sweep, Index: t.Index}.String()}
	if !t.Attempt.Started.IsZero() {
		p.Host, p.Slot = t.Attempt.Start.Host, strconv.Itoa(t.Attempt.Start.Slot)
	}
	return p
}

// precision is what the store keeps of times: a row says the same while its task runs and when it
// is read again.
const precision = time.Microsecond

func (r Record) fill(row *table.Row, t *Task, fields table.Fields) {
	row.State, row.Attempts, row.Revision = t.State.String(), t.Attempts, r.Recipe.Revision
	if t.Attempt.Revision != "" {
		row.Revision = t.Attempt.Revision
	}
	if s := &t.Attempt.Start; !t.Attempt.Started.IsZero() {
		row.Host = s.Host
		for _, d := range t.Attempt.Devices {
			row.GPUs = append(row.GPUs, table.GPU(d))
		}
		if fields.Has(table.FieldSlot) {
			slot := s.Slot // rows outlive the memory of their task
			row.Slot = &slot
		}
		if fields.Has(table.FieldStarted) {
			started := t.Attempt.Started.UTC().Truncate(precision)
			row.Started = &started
		}
	}
	row.Metrics = t.Attempt.Metrics()
	if o := t.Attempt.Outcome; o != nil {
		row.ExitCode, row.Class, row.Reason = o.ExitCode, string(o.Class), o.Reason+t.lapsedReason()
		if t.State == task.Cancelled && o.Class == task.Loss { // it waited for another attempt
			row.Reason = ""
		}
		if seconds := o.Duration.Truncate(precision).Seconds(); seconds > 0 {
			row.Duration = &seconds
		}
	}
	if t.Blocked != "" {
		row.Reason = t.Blocked
	}
}

// Schema names the columns of the sweep's table of results.
func (r Record) Schema() (s table.Schema) {
	for _, part := range r.Spaces() {
		for _, p := range part.Parameters() {
			if !slices.Contains(s.Parameters, p.Name()) {
				s.Parameters = append(s.Parameters, p.Name())
			}
		}
	}
	named := r.Recipe.Metrics
	for _, e := range r.Earlier {
		named = slices.Concat(named, e.Metrics)
	}
	for _, m := range named {
		if !slices.Contains(s.Metrics, m.Name) {
			s.Metrics = append(s.Metrics, m.Name)
		}
		if m.Take != "" && !slices.Contains(s.Steps, m.Name) {
			s.Steps = append(s.Steps, m.Name)
		}
	}
	return s
}
