package sweep

import (
	"slices"
	"time"

	"mlframework/sweep/result"
	"mlframework/sweep/task"
)

// Summary is a sweep as people and programs are shown it. Its JSON names are a contract.
type Summary struct {
	ID         string           `json:"id"`
	Definition string           `json:"definition"`
	State      State            `json:"state"`
	Reason     *string          `json:"reason"`
	Submitted  time.Time        `json:"submitted"` // UTC
	Ended      *time.Time       `json:"ended"`
	Total      int64            `json:"total"`
	Counts     map[string]int64 `json:"counts"` // tasks by state; every state is there
	Revision   string           `json:"revision"`
	Project    string           `json:"project"`
	Priority   int              `json:"priority"`
}

// Summary is the sweep of a record as it stands.
func (r Record) Summary(h Head) Summary {
	s := Summary{ID: h.ID, Definition: r.Recipe.Definition, State: h.State, Submitted: h.Submitted.UTC(), Total: h.Total,
		Counts: map[string]int64{}, Revision: r.Recipe.Revision, Project: r.Project, Priority: r.Priority}
	if h.Reason != "" {
		s.Reason = &h.Reason
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

// Rows returns what makes tasks of the sweep rows of results. A task that has no row in the store is the zero Task but
// for Index and State. It is safe for concurrent use.
func (r Record) Rows(id string) func(Task) result.Row {
	points := r.Points()
	return func(t Task) result.Row { return r.row(id, points, t) }
}

// precision is what the store keeps of times: a row says the same while its task runs and when it is read again.
const precision = time.Microsecond

func (r Record) row(id string, points *Points, t Task) result.Row {
	row := result.Row{
		ID: task.ID{Sweep: id, Index: t.Index}.String(), Sweep: id, Definition: r.Recipe.Definition, Index: t.Index,
		State: t.State.String(), Parameters: points.Parameters(t.Index), Attempts: t.Tries, Revision: r.Recipe.Revision,
	}
	if t.Try.Revision != "" {
		row.Revision = t.Try.Revision
	}
	command := r.Recipe.Unplaced()
	if s := t.Try.Start; !t.Try.Started.IsZero() {
		command = r.Recipe.Expand(s.Host, s.Slot)
		started := t.Try.Started.UTC().Truncate(precision)
		row.Host, row.Slot, row.GPUs, row.Started = s.Host, &s.Slot, s.GPUs, &started
	}
	row.Argv = points.Flags(command, t.Index)
	if o := t.Try.Outcome; o != nil {
		row.Metrics, row.ExitCode, row.Reason = o.Metrics, o.ExitCode, o.Reason
		if seconds := o.Duration.Truncate(precision).Seconds(); seconds > 0 {
			row.Duration = &seconds
		}
	}
	if t.Waits != "" {
		row.Reason = t.Waits
	}
	return row
}

// Schema names the columns of the sweep's table of results.
func (r Record) Schema() (s result.Schema) {
	for _, part := range r.spaces() {
		for _, p := range part.Parameters() {
			if !slices.Contains(s.Parameters, p.Name()) {
				s.Parameters = append(s.Parameters, p.Name())
			}
		}
	}
	for _, m := range r.Recipe.Metrics {
		s.Metrics = append(s.Metrics, m.Name)
	}
	return s
}
