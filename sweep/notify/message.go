// Package notify tells somebody outside what became of a sweep: a web hook, or a command of this
// machine. It makes the message from what the store has, and sends it.
package notify

import (
	"cmp"
	"context"
	"math"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/listing"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// Message is what is sent, as JSON. Its names are a contract.
type Message struct {
	Sweep      string     `json:"sweep"`
	Definition string     `json:"definition"`
	Event      string     `json:"event"` // core.EndedNotice or core.FailuresNotice
	State      core.State `json:"state"`
	Reason     *string    `json:"reason"` // why it is paused or cancelled
	Tasks      int64      `json:"tasks"`
	Succeeded  int64      `json:"succeeded"`
	Failed     int64      `json:"failed"`
	Cancelled  int64      `json:"cancelled"`
	Best       *Best      `json:"best"`     // null: no task has a value of the objective
	Failures   []Failure  `json:"failures"` // similar ones together, the most frequent first
	See        string     `json:"see"`      // the command that shows the sweep
}

// Best is the best task so far.
type Best struct {
	Task       string            `json:"task"`
	Metric     string            `json:"metric"`
	Value      *float64          `json:"value"` // null: infinite
	Parameters map[string]string `json:"parameters"`
}

// Failure is tasks that failed alike.
type Failure struct {
	Count  int64  `json:"count"`
	Reason string `json:"reason"`
	First  string `json:"first"` // task
}

// maxFailures bounds the groups of failures in a message.
const maxFailures = 10

// Read makes the message about an event of a sweep from how that stands now.
func Read(ctx context.Context, a *listing.Archive, sweep, event string) (Message, error) {
	s, err := a.Sweep(ctx, sweep, false)
	if err != nil {
		return Message{}, err
	}
	f, err := a.Failures(ctx, sweep)
	if err != nil {
		return Message{}, err
	}
	m := newMessage(s, event, f)
	o := s.Record.Objective
	if o.IsZero() {
		return m, nil
	}
	err = a.Rows(ctx, sweep, api.Query{Best: true, Issued: true, Top: 1}, func(r *table.Row) error {
		if table.IsRanked(o, r) {
			m.Best = newBest(o.Metric, r)
		}
		return nil
	})
	return m, err
}

func newMessage(s api.Sweep, event string, f api.Failures) Message {
	m := Message{Sweep: s.ID, Definition: s.Definition, Event: event, State: s.State,
		Reason: s.Reason, Tasks: s.Total, Succeeded: s.Counts[task.Succeeded.String()],
		Cancelled: s.Counts[task.Cancelled.String()], Failures: []Failure{},
		See: "run-tasks show " + s.ID}
	for _, state := range api.FailedStates {
		m.Failed += s.Counts[state.String()]
	}
	for _, g := range f.Groups[:min(len(f.Groups), maxFailures)] {
		m.Failures = append(m.Failures, Failure{g.Count, cmp.Or(g.Reason, string(g.Class)), g.Task})
	}
	return m
}

func newBest(metric string, r *table.Row) *Best {
	b := &Best{Task: r.ID, Metric: metric, Parameters: map[string]string{}}
	if v, ok := r.Metrics.Get(metric); ok && !math.IsInf(v, 0) {
		b.Value = &v
	}
	for _, p := range r.Parameters {
		b.Parameters[p.Name] = p.Value
	}
	return b
}
