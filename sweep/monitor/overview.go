package monitor

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// What the overview shows at most.
const (
	overviewSweeps   = 10 // that have not ended
	overviewEnded    = 5
	overviewFailures = 5
	// and of each of these, sweeps
	overviewFailureSweeps = 3
)

// recent is how long ago failures are that the overview shows, and overviewRefresh after what time
// some of them may be older.
const (
	recent          = time.Hour
	overviewRefresh = time.Minute
)

// overviewView is how everything stands.
type overviewView struct {
	Alarms   []alarm
	Open     []sweepTile // the newest first
	MoreOpen int64
	Ended    []sweepTile // the newest first
	Workers  int         // that are known
	Capacity capacity
	Failed   allFailuresView
	// the commands of who has no sweep yet
	First, Second command
}

// sweepTile is a sweep with its best task.
type sweepTile struct {
	sweepLine
	Best    *bestLine // nil: no task has a rank
	EndedAt *time.Time
}

func (m *Monitor) loadOverview(r *request) (*content, error) {
	sweeps, err := m.hub.askSweeps(r.Context(), r.version)
	if err != nil {
		return nil, err
	}
	workers, err := m.hub.askWorkers(r.Context(), r.version)
	if err != nil {
		return nil, err
	}
	ready, err := m.hub.askReady(r.Context(), r.version)
	if err != nil {
		return nil, err
	}
	v := overviewView{Workers: len(workers.value), Capacity: capacityOf(workers.value),
		First:  command{ID: "first-command", Text: "run-tasks init"},
		Second: command{ID: "second-command", Text: "run-tasks NAME"}}
	v.Alarms = slices.Concat(readyAlarms(ready.value), m.workerAlarms(workers.value),
		m.sweepAlarms(sweeps.value, workers.value, r.role()))
	if err := m.addSweeps(r, &v, sweeps.value, sweeps.asOf); err != nil {
		return nil, err
	}
	if v.Failed, err = m.recentFailures(r, sweeps.value, sweeps.asOf); err != nil {
		return nil, err
	}
	return m.warned(r, &content{title: "Overview", view: v, asOf: sweeps.asOf,
		refresh: overviewRefresh}), nil
}

// addSweeps adds the newest sweeps that have not ended, and the last that have.
func (m *Monitor) addSweeps(r *request, v *overviewView, all []core.Summary, now time.Time) error {
	var ended []core.Summary
	for _, s := range slices.Backward(all) {
		switch {
		case s.Ended != nil:
			ended = append(ended, s)
		case len(v.Open) == overviewSweeps:
			v.MoreOpen++
		default:
			t, err := m.tile(r, s, now)
			if err != nil {
				return err
			}
			v.Open = append(v.Open, t)
		}
	}
	slices.SortStableFunc(ended, func(a, b core.Summary) int { return b.Ended.Compare(*a.Ended) })
	for _, s := range ended[:min(overviewEnded, len(ended))] {
		t, err := m.tile(r, s, now)
		if err != nil {
			return err
		}
		v.Ended = append(v.Ended, t)
	}
	return nil
}

// tile returns a sweep with its best task, which is asked for where any has ended.
func (m *Monitor) tile(r *request, s core.Summary, now time.Time) (sweepTile, error) {
	t := sweepTile{sweepLine: m.line(s, now), EndedAt: s.Ended}
	if s.Counts[task.Succeeded.String()] == 0 {
		return t, nil
	}
	whole, err := m.askSweep(r.Context(), s.ID, r.version)
	if err != nil || whole.value.Record.Objective.IsZero() {
		return t, ignoreRefused(err)
	}
	first, err := m.askBest(r.Context(), whole.value, r.version)
	if err != nil {
		return t, ignoreRefused(err)
	}
	t.Best = m.best(whole.value, first.value)
	return t, nil
}

// ignoreRefused returns no error where the master answers that it has no such sweep any more, or
// cannot read it: the others are shown.
func ignoreRefused(err error) error {
	if _, answered := errors.AsType[*api.Error](err); answered {
		return nil
	}
	return err
}

// capacity is what workers that are not away have.
type capacity struct {
	Up, Busy, Slots int
	GPUs            string // "1.5 of 4 GPUs"; "": there are none
}

func capacityOf(all []core.Worker) (c capacity) {
	given, n := 0., 0
	for _, w := range all {
		if w.State != core.WorkerAway {
			c.Up, c.Busy, c.Slots = c.Up+1, c.Busy+len(w.Running), c.Slots+w.Slots
			given, n = given+task.Given(w.GPUs), n+len(w.GPUs)
		}
	}
	if n > 0 {
		c.GPUs = human.Share(given) + " of " + human.Plural(int64(n), "GPU")
	}
	return c
}

// overviewFacts is what the overview tells beside sweeps. Each answer of the master is compared with
// the one before, whoever asked: a page may have seen what a poll did not.
type overviewFacts struct {
	workers []core.Worker
	ready   api.Readiness
}

// pollOverview asks for what only the overview tells, while somebody looks at it.
func (h *hub) pollOverview(ctx context.Context, version int64) error {
	h.mu.Lock()
	looked := h.topics[overviewTopic] != nil
	h.mu.Unlock()
	if !looked {
		return nil
	}
	_, err := h.askReady(ctx, version)
	return err
}

// askReady asks whether submitted sweeps run.
func (h *hub) askReady(ctx context.Context, version int64) (reply[api.Readiness], error) {
	return ask(ctx, h.answers, "ready", version,
		func(ctx context.Context) (api.Readiness, error) {
			r, err := h.master.Ready(ctx)
			if err == nil {
				h.mu.Lock()
				same := reflect.DeepEqual(h.shown.ready, r)
				h.shown.ready = r
				h.mu.Unlock()
				if !same {
					h.publish(overviewTopic)
				}
			}
			return r, err
		})
}

// noteWorkers tells the readers of the overview when that says something else of workers.
func (h *hub) noteWorkers(all []core.Worker) {
	h.mu.Lock()
	same := sameOnOverview(h.shown.workers, all)
	h.shown.workers = all
	h.mu.Unlock()
	if !same {
		h.publish(overviewTopic)
	}
}

// sameOnOverview reports whether the overview says the same of workers: not every heartbeat changes
// it.
func sameOnOverview(before, now []core.Worker) bool {
	return capacityOf(before) == capacityOf(now) &&
		slices.EqualFunc(before, now, func(a, b core.Worker) bool {
			return a.Name == b.Name && a.State == b.State && reflect.DeepEqual(a.Reason, b.Reason) &&
				slices.Equal(gpuFaults(a), gpuFaults(b))
		})
}
