package master_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/metric"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// replace ends the master and replaces every text of its store's file.
func (s *site) replace(old, replacement string) {
	s.t.Helper()
	s.must(s.end())
	file := filepath.Join(s.folder, store.File)
	text, err := os.ReadFile(file)
	s.must(err)
	changed := bytes.ReplaceAll(text, []byte(old), []byte(replacement))
	if bytes.Equal(changed, text) {
		s.t.Fatalf("%s does not have %s", file, old)
	}
	s.must(os.WriteFile(file, changed, 0o600))
}

// TestDamagedSweep: a sweep whose record cannot be read stays as it is, and the others run. Once it
// is repaired it goes on, with what its worker told meanwhile, however much that was.
func TestDamagedSweep(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	broken := s.submit(1, func(n *master.Submission) { n.Record.Recipe.Definition = "broken" })
	h := s.newHand("w1", 2)
	g := h.has(1)
	h.report(task.ClaimedEvent, g...)
	h.report(task.StartedEvent, g...)
	s.becomes(broken, core.Open, "1 running")
	s.replace(`"definition":"broken"`, `"definition"!"broken"`)
	s.start()
	h.beat(says("1", 2, busy(g[0]))())
	samples := h.event(task.SamplesEvent, g[0])
	for n := range 200 { // each comes by itself
		samples.Samples = []metric.Sample{{Name: "loss", Value: float64(n), Time: time.Now()}}
		h.emit(samples)
		_, err := s.master.Workers(t.Context())
		s.must(err)
	}
	h.end(task.Success, g...)
	id := s.submit(1)
	all := h.has(2)[1:]
	h.end(task.Success, all...)
	s.becomes(id, core.Finished, "1 succeeded")
	if text := s.log.String(); !strings.Contains(text, broken+" is damaged in "+store.File) ||
		!strings.Contains(text, "restore the file") {
		t.Errorf("the log is\n%s", text)
	}
	h.mu.Lock()
	for _, c := range h.controls {
		if c.Kind == task.StopControl {
			t.Errorf("what runs is told to stop: %+v", c)
		}
	}
	h.mu.Unlock()
	if err := s.master.Cancel(t.Context(), broken, "test"); err == nil ||
		!strings.Contains(err.Error(), "is damaged") {
		t.Errorf("it is cancelled: %v", err)
	}
	s.replace(`"definition"!"broken"`, `"definition":"broken"`)
	s.start()
	s.becomes(broken, core.Finished, "1 succeeded")
	sw, err := s.store.Sweep(t.Context(), broken)
	s.must(err)
	series, err := s.store.Series(t.Context(), sw, 0, 1)
	s.must(err)
	if len(series) != 200 {
		t.Errorf("%d samples are kept", len(series))
	}
	if held, err := s.store.Held(); len(held) > 0 || err != nil {
		t.Errorf("%v is held still: %v", held, err)
	}
}

// TestHeldEventsWaitForTheirStore: what is held of a damaged sweep stays while the master runs on a
// store without that sweep, no other sweep gets its name there, and it is taken up when the store
// is back.
func TestHeldEventsWaitForTheirStore(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	broken := s.submit(1, func(n *master.Submission) { n.Record.Recipe.Link = []string{"broken"} })
	h := s.newHand("w1", 1)
	g := h.has(1)
	h.report(task.ClaimedEvent, g...)
	h.report(task.StartedEvent, g...)
	s.becomes(broken, core.Open, "1 running")
	s.replace(`["broken"]`, `["broken"!`)
	s.start()
	h.end(task.Success, g...)
	held := func() []string {
		t.Helper()
		all, err := s.store.Held()
		s.must(err)
		return all
	}
	s.poll("the end is held", func() bool { return len(held()) == 1 },
		func() string { return fmt.Sprint(held()) })
	s.must(s.end())
	file := filepath.Join(s.folder, store.File)
	s.must(os.Rename(file, file+".damaged"))
	s.start()
	if id := s.submit(1); id == broken {
		t.Errorf("another sweep is named %s", id)
	}
	if all := held(); !slices.Equal(all, []string{broken}) {
		t.Errorf("on a store without %s, %v is held", broken, all)
	}
	if text := s.log.String(); !strings.Contains(text, "events of a sweep are kept") ||
		strings.Contains(text, "was repaired") {
		t.Errorf("the log is\n%s", text)
	}
	s.must(s.end())
	s.must(os.Rename(file+".damaged", file))
	s.start()
	s.replace(`["broken"!`, `["broken"]`)
	s.start()
	s.becomes(broken, core.Finished, "1 succeeded")
	if all := held(); len(all) > 0 {
		t.Errorf("%v is held still", all)
	}
}

// ranked is a submission whose tasks are ranked by a metric.
func ranked(n *master.Submission) {
	n.Record.Recipe.Metrics = []metric.Rule{{Name: "accuracy", Pattern: "x(y)"}}
	n.Record.Objective = metric.Objective{Maximize: true, Metric: "accuracy"}
}

// measured is the end of an attempt with a value to rank it by.
func (h *hand) measured(g given, accuracy float64) task.Event {
	return h.ending(g, &task.Outcome{Class: task.Success, Duration: time.Second,
		Metrics: metric.Final{{Name: "accuracy", Value: accuracy}}})
}

// TestDamagedOpenTask: a sweep of which a task that has not ended cannot be read stays as it is,
// and the others run. Once it is repaired it goes on.
func TestDamagedOpenTask(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	broken := s.submit(1)
	h := s.newHand("w1", 2)
	g := h.has(1)[0]
	started := h.event(task.StartedEvent, g)
	started.Start.GPUs = []string{"GPU-7"}
	h.emit(h.event(task.ClaimedEvent, g), started)
	s.becomes(broken, core.Open, "1 running")
	s.replace(`["GPU-7"]`, `["GPU-7"!`)
	s.start()
	h.beat(says("1", 2, busy(g))())
	h.end(task.Success, g)
	id := s.submit(1)
	h.end(task.Success, h.has(2)[1])
	s.becomes(id, core.Finished, "1 succeeded")
	want := broken + " is damaged in store.db and stays as it is: task 0 cannot be read: "
	if all := s.master.Damaged(); len(all) != 1 || !strings.HasPrefix(all[0].Error(), want) {
		t.Errorf("people are told of %v", all)
	}
	if err := s.master.Cancel(t.Context(), broken, "test"); err == nil ||
		!strings.HasPrefix(err.Error(), want) {
		t.Errorf("it is cancelled: %v", err)
	}
	s.replace(`["GPU-7"!`, `["GPU-7"]`)
	s.start()
	s.becomes(broken, core.Finished, "1 succeeded")
}

// TestDamagedEndedTask: a sweep of which a task that has ended cannot be read goes on without it;
// what is told of that task late, and another objective, change nothing for the others.
func TestDamagedEndedTask(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit(3, ranked)
	h := s.newHand("w1", 3)
	all := h.has(3)
	h.report(task.ClaimedEvent, all...)
	h.report(task.StartedEvent, all...)
	h.emit(h.measured(all[0], .9))
	s.becomes(id, core.Open, "2 running, 1 succeeded")
	s.replace(`{"accuracy":0.9}`, `{"accuracy"!0.9}`)
	s.start()
	h.beat(says("1", 3, busy(all[1]), busy(all[2]))())
	w, stop, err := s.master.Watch(t.Context(), id, api.DetailCounts)
	s.must(err)
	defer stop()
	h.emit(h.measured(all[1], .8))
	s.becomes(id, core.Open, "1 running, 2 succeeded")
	if u, err := w.Next(t.Context()); err != nil || u.Best != nil && u.Best.Task == id+"/0" {
		t.Errorf("the best is %+v: %v", u.Best, err)
	}
	err = s.master.Reread(t.Context(), id, []metric.Rule{{Name: "accuracy", Pattern: "(z)"}},
		metric.Objective{Metric: "accuracy"}, nil)
	s.must(err)
	h.emit(h.measured(all[2], .7))
	s.becomes(id, core.Finished, "3 succeeded")
	want := "task " + id + "/0 cannot be read in store.db: "
	if all := s.master.Damaged(); len(all) != 1 || !strings.HasPrefix(all[0].Error(), want) {
		t.Errorf("people are told of %v", all)
	}
}

// TestDamagedPlacement: what is told late of a task of which the store cannot tell where it was
// placed is dropped.
func TestDamagedPlacement(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit(2)
	h := s.newHand("w1", 2)
	all := h.has(2)
	h.report(task.ClaimedEvent, all...)
	h.report(task.StartedEvent, all...)
	h.end(task.Success, all[0])
	s.becomes(id, core.Open, "1 running, 1 succeeded")
	s.spy.Damage(store.DamagedTask{Task: task.ID{Sweep: id, Index: all[0].Index},
		Err: errors.New("no number")})
	h.end(task.Success, all...)
	s.becomes(id, core.Finished, "2 succeeded")
	if got := s.master.Damaged(); len(got) != 1 {
		t.Errorf("people are told of %v", got)
	}
}

// TestDamagedEndedSweep: what is told of a sweep that has ended and cannot be read any more changes
// nothing for the others.
func TestDamagedEndedSweep(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	broken := s.submit(1, func(n *master.Submission) { n.Record.Recipe.Definition = "broken" })
	h := s.newHand("w1", 1)
	g := h.has(1)
	h.report(task.ClaimedEvent, g...)
	h.report(task.StartedEvent, g...)
	h.end(task.Success, g...)
	s.becomes(broken, core.Finished, "1 succeeded")
	s.replace(`"definition":"broken"`, `"definition"!"broken"`)
	s.start()
	h.beat(says("1", 1)())
	h.end(task.Success, g...)
	id := s.submit(1)
	h.end(task.Success, h.has(2)[1])
	s.becomes(id, core.Finished, "1 succeeded")
	held := func(want ...string) {
		t.Helper()
		if have, err := s.store.Held(); err != nil || !slices.Equal(have, want) {
			t.Errorf("%v is held: %v", have, err)
		}
	}
	held(broken)
	s.must(s.end())
	s.start()
	s.submit(1) // the master has begun
	held(broken)
	s.replace(`"definition"!"broken"`, `"definition":"broken"`)
	s.start()
	s.submit(1)
	held()
}
