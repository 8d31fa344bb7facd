package master_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
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

// TestDamagedSweep: a sweep whose record cannot be read is refused, and the others run. What a worker
// runs of it is stopped, and what it says is dropped. Once it is repaired it goes on.
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
	h.toldStop(g[0])
	h.end(task.Stopped, g...)
	id := s.submit(1)
	h.end(task.Success, h.has(2)[1])
	s.becomes(id, core.Finished, "1 succeeded")
	if text := s.log.String(); !strings.Contains(text, broken+" is damaged in "+store.File) ||
		!strings.Contains(text, "restore the file") {
		t.Errorf("the log is\n%s", text)
	}
	if missing := s.master.Missing(); len(missing) > 0 {
		t.Errorf("%v are missing in the store", missing)
	}
	if err := s.master.Cancel(t.Context(), broken, "test"); err == nil ||
		!strings.Contains(err.Error(), "is damaged") {
		t.Errorf("it is cancelled: %v", err)
	}
	s.replace(`"definition"!"broken"`, `"definition":"broken"`)
	s.start()
	h.joins("2", 2)
	defer h.beating(says("2", 2))()
	h.end(task.Success, h.has(3)[2])
	s.becomes(broken, core.Finished, "1 succeeded")
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
	measured := h.event(task.SamplesEvent, g)
	measured.Newest = metric.Stored{{Name: "loss7", Value: 1}}
	h.emit(h.event(task.ClaimedEvent, g), started, measured)
	s.becomes(broken, core.Open, "1 running")
	s.replace(`"loss7":`, `"loss7"!`)
	s.start()
	h.beat(says("1", 2, busy(g))())
	h.end(task.Stopped, g)
	id := s.submit(1)
	h.end(task.Success, h.has(2)[1])
	s.becomes(id, core.Finished, "1 succeeded")
	want := broken + " is damaged in store.db and cannot go on: task 0 cannot be read: "
	if all := s.master.Damaged(); len(all) != 1 || !strings.HasPrefix(all[0].Error(), want) {
		t.Errorf("people are told of %v", all)
	}
	if err := s.master.Cancel(t.Context(), broken, "test"); err == nil ||
		!strings.HasPrefix(err.Error(), want) {
		t.Errorf("it is cancelled: %v", err)
	}
	s.replace(`"loss7"!`, `"loss7":`)
	s.start()
	h.joins("2", 2)
	defer h.beating(says("2", 2))()
	h.end(task.Success, h.has(3)[2])
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
}
