package master_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

func TestAWatcherSeesASweepToItsEnd(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit(20)
	w, stop, err := s.master.Watch(t.Context(), "", api.DetailTasks)
	s.must(err)
	defer stop()
	s.newRunner("w1", 2, time.Millisecond)
	ended := map[int64]string{}
	for {
		u, err := w.Next(t.Context())
		s.must(err)
		if u.Cut > 0 || u.Closed || u.Sweep.ID != id {
			t.Errorf("%+v", u)
		}
		for _, r := range u.Rows {
			ended[r.Index] = r.State
			if r.State == task.Queued.String() || r.State == task.Claimed.String() {
				t.Errorf("it is told that %s is %s", r.ID, r.State)
			}
		}
		if u.Idle() {
			break
		}
	}
	if s.head(id).State != core.Finished { // told only when it is on disk
		t.Error("it has not ended on disk")
	}
	want := map[int64]string{}
	for i := range int64(20) {
		want[i] = "succeeded"
	}
	if diff := cmp.Diff(want, ended); diff != "" {
		t.Error(diff)
	}
}

func TestASlowWatcherIsBounded(t *testing.T) {
	t.Parallel()
	r := record(t, 100)
	w, line, changed, end := master.Shown(r, core.Head{ID: "train-1", State: core.Open, Total: 100},
		api.DetailOutput)
	for n := range master.MaxLines + 5 {
		line(task.Line{Sweep: "train-1", Text: fmt.Sprint(n)})
		line(task.Line{Sweep: "train-2", Text: "of another"})
	}
	group := make([]core.Task, 100)
	for i := range group {
		group[i].Index = int64(i)
	}
	for range master.MaxRows/100 + 1 {
		changed(core.Head{ID: "train-1", State: core.Open, Total: 101}, group)
	}
	u, err := w.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(u.Lines) != master.MaxLines || u.Lines[0].Text != "0" || len(u.Rows) != master.MaxRows ||
		u.Missed != 5 || u.Cut != 100 || u.Sweep.Total != 101 {
		t.Errorf("%d lines and %d missed, %d rows and %d cut", len(u.Lines), u.Missed, len(u.Rows),
			u.Cut)
	}
	line(task.Line{Sweep: "train-1", Text: "next"})
	end()
	if u, err = w.Next(t.Context()); err != nil || len(u.Lines) != 1 || u.Missed != 0 || !u.Closed {
		t.Errorf("%+v, %v", u, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	cancel(reason)
	if _, err := w.Next(ctx); !errors.Is(err, reason) {
		t.Errorf("nothing is new, and the error is %v", err)
	}
}

func TestLinesReachAWatcher(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.newHandThat(task.Heartbeat{Worker: "w1", Slots: 1, Incarnation: "1", Host: "gpu1"}, nil)
	id := s.submit(1)
	w, stop, err := s.master.Watch(t.Context(), id, api.DetailOutput)
	s.must(err)
	defer stop()
	h.has(1)
	want := task.Line{Sweep: id, Attempt: 1, Host: "gpu1", Text: "epoch 1", Missed: 3}
	if !s.queue.Worker("w1").OfferLine(want) {
		t.Fatal("refused")
	}
	want.Worker = "w1"
	s.shows(w, want)
}

// shows waits for lines, which have to be these.
func (s *site) shows(w *master.Watcher, want ...task.Line) {
	s.t.Helper()
	var got []task.Line
	for len(got) < len(want) {
		u, err := w.Next(s.t.Context())
		s.must(err)
		got = append(got, u.Lines...)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("-want +got:\n%s", diff)
	}
}

// Lines of a task are shown from the worker that its newest attempt was placed on, as those of the
// host that this registered with.
func TestLinesAreOfTheWorkerThatHasTheTask(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	honest, foreign, g := s.two()
	w, stop, err := s.master.Watch(t.Context(), g.sweep, api.DetailOutput)
	s.must(err)
	defer stop()
	line := func(h *hand, attempt int, text string) task.Line {
		t.Helper()
		l := task.Line{Sweep: g.sweep, Attempt: attempt, Host: "elsewhere", Text: text}
		if !s.queue.Worker(h.name).OfferLine(l) {
			t.Fatal("refused")
		}
		l.Worker, l.Host = h.name, map[string]string{"w1": "gpu1", "w2": "gpu2"}[h.name]
		return l
	}
	forge := func() {
		for attempt := range 4 {
			line(foreign, attempt, "forged")
		}
		s.queue.Worker("w1").OfferLine(task.Line{Sweep: g.sweep, Index: 1, Attempt: 1,
			Text: "of no task"})
	}
	forge()
	first := line(honest, 1, "before its start is told")
	honest.report(task.StartedEvent, g)
	s.becomes(g.sweep, core.Open, "1 running")
	forge()
	s.shows(w, first, line(honest, 1, "running"))

	honest.end(task.Loss, g)
	again := foreign.has(1)[0]
	line(honest, 1, "late")
	s.shows(w, line(foreign, again.Number, "again"))
	foreign.end(task.Success, given{g.sweep, again.Attempt})
	s.becomes(g.sweep, core.Finished, "1 succeeded")
	s.shows(w, line(foreign, again.Number, "behind its end"))

	all, err := s.master.Stats(t.Context())
	s.must(err)
	if all.Refused != 10 {
		t.Errorf("%d messages were refused", all.Refused)
	}
}

// A task that ranked first by its time limit and runs again is the best no more.
func TestTheBestRunsAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.newHand("w1", 2)
	id := s.submit(2, func(sub *master.Submission) {
		sub.Record.Objective = metric.Objective{Maximize: true, Metric: "acc", Timeouts: true}
	})
	w, stop, err := s.master.Watch(t.Context(), id, api.DetailCounts)
	s.must(err)
	defer stop()
	best := func() (last *api.Best) {
		t.Helper()
		for {
			u, err := w.Next(t.Context())
			s.must(err)
			if last = u.Best; u.Idle() || u.Sweep.Counts["running"]+u.Sweep.Counts["queued"] == 1 &&
				u.Sweep.Counts["succeeded"] == 1 {
				return last
			}
		}
	}
	for n, g := range h.has(2) {
		h.report(task.StartedEvent, g)
		o := task.Outcome{Class: []task.Class{task.TimedOut, task.Success}[n],
			Duration: time.Second}
		o.Metrics = metric.Final{{Name: "acc", Value: []float64{0.9, 0.5}[n]}}
		h.emit(h.ending(g, &o))
	}
	s.becomes(id, core.Finished, "1 succeeded, 1 timeout")
	if b := best(); b == nil || b.Task != id+"/0" || b.Value != "0.9" {
		t.Errorf("the best is %+v", b)
	}
	if err := s.master.Retry(t.Context(), id, nil, false, api.Continuation{}); err != nil {
		t.Fatal(err)
	}
	h.has(3)
	if b := best(); b == nil || b.Task != id+"/1" || b.Value != "0.5" {
		t.Errorf("the best is %+v", b)
	}
}
