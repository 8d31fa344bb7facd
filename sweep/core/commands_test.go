package core_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// indexes are those of tasks.
func indexes(tasks []core.Task) (all []int64) {
	for _, t := range tasks {
		all = append(all, t.Index)
	}
	return all
}

// kinds are the kinds of control messages.
func kinds(c core.Changes) (all []task.ControlKind) {
	for _, o := range c.Controls {
		all = append(all, o.Control.Kind)
	}
	return all
}

// TestInterrupt is Ctrl-C: what runs is stopped and goes back uncharged, and a resumed sweep runs
// it again.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	b := newBed(core.Record{}, 3)
	b.place(2, "w")
	b.event(task.ClaimedEvent, 0, nil)
	b.event(task.StartedEvent, 0, nil)
	b.Pause("interrupted", true)
	if diff := cmp.Diff([]task.ControlKind{"recall", "stop", "stop"}, kinds(b.keep())); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	b.Ledger = b.store.ledger() // the master is killed and started: it asks again
	if diff := cmp.Diff([]task.ControlKind{"stop", "stop"}, kinds(b.keep())); diff != "" {
		t.Errorf("after a restart: -want +got:\n%s", diff)
	}
	b.event(task.ClaimedEvent, 1, nil) // it was on its way
	if diff := cmp.Diff([]task.ControlKind{"stop"}, kinds(b.last)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	b.event(task.ReturnedEvent, 1, nil)
	b.end(0, task.Stopped)
	if !b.Resume(at(5)) {
		t.Fatal("nothing to resume")
	}
	if diff := cmp.Diff([]int64{0, 1, 2}, indexes(b.place(9, "w"))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if row := b.store.rows[0]; row.Charged != (task.Retry{}) || row.Attempts != 1 {
		t.Errorf("%+v", row)
	}
}

// TestCancelOnTheWay cancels while attempts are queued, claimed and running, restarts the master,
// and lets each end in another way: all are cancelled, and late results change nothing.
func TestCancelOnTheWay(t *testing.T) {
	t.Parallel()
	b := newBed(core.Record{Retry: task.Retry{Error: 9, Lost: 9}}, 5)
	b.place(4, "w")
	b.event(task.ClaimedEvent, 1, nil)
	b.event(task.StartedEvent, 2, nil)
	b.event(task.StartedEvent, 3, nil)
	b.Cancel("enough", at(1))
	b.keep()
	b.Ledger = b.store.ledger()
	if diff := cmp.Diff([]task.ControlKind{"stop", "stop", "stop", "stop"},
		kinds(b.keep())); diff != "" {
		t.Errorf("after a restart: -want +got:\n%s", diff)
	}
	b.event(task.ClaimedEvent, 0, nil)
	b.event(task.StartedEvent, 0, nil)
	if diff := cmp.Diff([]task.ControlKind{"stop"}, kinds(b.last)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	b.end(0, task.Error)
	b.event(task.ReturnedEvent, 1, nil)
	b.end(2, task.Success)
	if b.Resume(at(2)); b.store.head.State != core.Cancelled || !b.store.head.Ended.IsZero() {
		t.Errorf("%+v", b.store.head)
	}
	b.MarkLost("w", "away", core.Vanished, at(3))
	b.keep()
	b.end(3, task.Success)
	want := core.Counts{task.Cancelled: 5}
	if h := b.store.head; h.Counts() != want || h.Ended.IsZero() {
		t.Errorf("%v, ended %v", h.Counts(), h.Ended)
	}
}

// Of the tasks that were cancelled with their sweep before they had a row, only those that are
// chosen run again.
func TestReopenUnissued(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		again, runs []int64
		cancelled   int64
	}{
		"some":       {[]int64{3, 9}, []int64{3, 9}, 5},
		"the last":   {[]int64{9}, []int64{9}, 6},
		"every one":  {[]int64{2, 3, 6, 8, 9}, []int64{2, 3, 6, 8, 9}, 2},
		"none of it": {nil, nil, 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(core.Record{Ranges: core.Ranges{{From: 0, To: 4}, {From: 6, To: 10}}}, 8)
			b.place(1, "w")
			b.run(0, task.Success)
			b.place(1, "w")
			b.CancelTask(7, "", at(0)) // it has a row
			b.Cancel("enough", at(0))
			b.end(1, task.Stopped)
			b.ReopenUnissued(c.again)
			b.keep()
			b.Ledger = b.store.ledger()
			if diff := cmp.Diff(c.runs, indexes(b.place(9, "w"))); diff != "" {
				t.Fatalf("-want +got:\n%s", diff)
			}
			for _, i := range c.runs {
				b.run(i, task.Success)
			}
			want := core.Counts{task.Succeeded: 1 + int64(len(c.runs)), task.Cancelled: c.cancelled}
			if h := b.store.head; h.Counts() != want || h.Ended.IsZero() {
				t.Errorf("%+v", h)
			}
		})
	}
}

func TestCancelTask(t *testing.T) {
	t.Parallel()
	b := newBed(core.Record{Ranges: core.Ranges{{From: 2, To: 4}, {From: 8, To: 9}}}, 3)
	b.CancelTask(3, "", at(0))
	b.keep()
	b.Ledger = b.store.ledger()
	if diff := cmp.Diff([]int64{2, 8}, indexes(b.place(9, "w"))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	b.run(2, task.Success)
	b.run(8, task.Success)
	if h := b.store.head; h.State != core.Finished ||
		h.Counts() != (core.Counts{task.Succeeded: 2, task.Cancelled: 1}) {
		t.Errorf("%+v", h)
	}
}

func TestCancelTaskRefused(t *testing.T) {
	t.Parallel()
	record := core.Record{Space: new(space.Space),
		Ranges: core.Ranges{{From: 2, To: 4}, {From: 8, To: 9}}}
	c, _ := core.Load(core.Options{}, nil, nil, at(0))
	c.Add(core.Loaded{Seq: 1, Record: record, CancelledEarly: []int64{3},
		Head: core.Head{ID: "train-1", State: core.Open, Total: 3,
			Rows: core.Counts{task.Cancelled: 1}}})
	for index, want := range map[int64]string{
		-1: "train-1 has no task -1: it has 3",
		0:  "train-1 has no task 0: it has 3",
		2:  "<nil>",
		3:  "train-1/3 has ended already",
		4:  "train-1 has no task 4: it has 3",
		8:  "<nil>",
		9:  "train-1 has no task 9: it has 3",
	} {
		command := core.CancelTask{Task: task.ID{Sweep: "train-1", Index: index}}
		if got := fmt.Sprint(c.Check(command)); got != want {
			t.Errorf("got %s; want %s", got, want)
		}
	}
}

// TestReopenAhead retries a task that was cancelled before its turn: it runs once, also when the
// master restarts before its turn comes.
func TestReopenAhead(t *testing.T) {
	t.Parallel()
	b := newBed(core.Record{}, 3)
	b.CancelTask(2, "", at(0))
	b.keep()
	b.Reopen([]core.Task{b.store.rows[2]}, false, false)
	b.keep()
	b.Ledger = b.store.ledger()
	b.keep()
	if diff := cmp.Diff([]int64{2, 0, 1}, indexes(b.place(9, "w"))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := b.store.check(b.Ledger); err != nil {
		t.Error(err)
	}
}

// TestReopenCancelled retries a part of a cancelled sweep, and then all of it.
func TestReopenCancelled(t *testing.T) {
	t.Parallel()
	b := newBed(core.Record{Ranges: core.Ranges{{From: 5, To: 9}}}, 4)
	b.place(1, "w")
	b.CancelTask(6, "", at(0))
	b.Cancel("enough", at(1))
	b.event(task.ReturnedEvent, 5, nil)
	b.Reopen([]core.Task{b.store.rows[5]}, false, false)
	if diff := cmp.Diff([]int64{5}, indexes(b.place(9, "w"))); diff != "" {
		t.Errorf("a part: -want +got:\n%s", diff)
	}
	b.run(5, task.Error)
	if h := b.store.head; h.State != core.Finished ||
		h.Counts() != (core.Counts{task.Failed: 1, task.Cancelled: 3}) {
		t.Errorf("%+v", h)
	}
	b.Reopen([]core.Task{b.store.rows[5], b.store.rows[6]}, true, false)
	if diff := cmp.Diff([]int64{5, 6, 7, 8}, indexes(b.place(9, "w"))); diff != "" {
		t.Errorf("all: -want +got:\n%s", diff)
	}
	for i := int64(5); i < 9; i++ {
		b.run(i, task.Success)
	}
	b.Reopen([]core.Task{b.store.rows[5]}, true, false)
	if h := b.Head(); h.State != core.Finished || h.Counts() != (core.Counts{task.Succeeded: 4}) {
		t.Errorf("a sweep that succeeded was reopened: %+v", h)
	}
}

// TestReopenCancelling retries tasks that were cancelled and whose programs still have their grace:
// they run again when these have stopped, also when the master restarts before.
func TestReopenCancelling(t *testing.T) {
	t.Parallel()
	whole := func(b *bed) { b.Cancel("enough", at(1)) }
	for _, c := range []struct {
		name   string
		cancel func(*bed)
		retry  func(*bed)
		again  []int64 // tasks that run again; the others are cancelled
	}{
		{"all", whole, func(b *bed) { b.Reopen(nil, true, false) }, []int64{0, 1, 2}},
		{"one", whole, func(b *bed) { b.Reopen([]core.Task{b.store.rows[1]}, false, false) },
			[]int64{1}},
		{"one that was cancelled alone", func(b *bed) { b.CancelTask(0, "", at(1)) },
			func(b *bed) { b.Reopen([]core.Task{b.store.rows[0]}, false, false) },
			[]int64{0, 1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBed(core.Record{Retry: task.Retry{Error: 1}}, 3)
			b.place(2, "w")
			b.event(task.StartedEvent, 0, nil)
			c.cancel(b)
			b.keep()
			c.retry(b)
			if h := b.Head(); h.State != core.Open {
				t.Errorf("the sweep is %v", h.State)
			}
			b.keep()
			b.Ledger = b.store.ledger()
			b.keep()
			b.end(0, task.Stopped)
			b.event(task.ReturnedEvent, 1, nil)
			if diff := cmp.Diff(c.again, indexes(b.place(9, "w"))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			for _, index := range c.again {
				if charged := b.store.rows[index].Charged; charged != (task.Retry{}) {
					t.Errorf("charged: %+v", charged)
				}
				b.run(index, task.Success)
			}
			n := int64(len(c.again))
			if h := b.store.head; h.State != core.Finished ||
				h.Counts() != (core.Counts{task.Succeeded: n, task.Cancelled: 3 - n}) {
				t.Errorf("%+v", h)
			}
		})
	}
}

// TestRetryAsTheTaskEnds retries a task that was cancelled in the step that its end comes with.
func TestRetryAsTheTaskEnds(t *testing.T) {
	t.Parallel()
	running := core.Task{State: task.Running, Cancelling: true, Attempts: 1,
		Attempt: core.Attempt{Number: 1, Worker: "w", Started: at(0)}}
	ended := core.Event{Event: task.Event{Version: task.Version, Kind: task.EndedEvent,
		Worker: "w", Sweep: "train-1", Attempt: 1, Time: at(1),
		Outcome: &task.Outcome{Class: task.Stopped, Duration: time.Second}}}
	for name, retry := range map[string]core.RetryTasks{
		"all": {Sweep: "train-1", All: true},
		"one": {Sweep: "train-1", Tasks: []core.Task{running}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := core.Load(core.Options{}, []core.Loaded{{Seq: 1,
				Record: core.Record{Space: new(space.Space)}, Open: []core.Task{running},
				Head: core.Head{ID: "train-1", State: core.Cancelled, Total: 1, Issued: 1,
					Rows: core.Counts{task.Running: 1}, UnissuedCancelled: true}}},
				[]core.WorkerRecord{{Name: "w"}}, at(0))
			out := c.Step(core.Input{Events: []core.Event{ended}, Command: retry}, at(1))
			effects, err := out.Commit(func(*core.Rows) error { return nil })
			if err != nil || effects.Err != nil {
				t.Fatal(err, effects.Err)
			}
			if h, _ := c.Head("train-1"); h.State != core.Open ||
				h.Counts() != (core.Counts{task.Pending: 1}) {
				t.Errorf("%v: %v", h.State, h.Counts())
			}
		})
	}
}

// TestReopenHuge retries and cancels a great many tasks, which must not take a time that grows with
// their square.
func TestReopenHuge(t *testing.T) {
	t.Parallel()
	b := newBed(core.Record{}, 300_000)
	ended := make([]core.Task, b.store.head.Total)
	for i := range ended {
		ended[i] = core.Task{Index: int64(i), State: task.Failed}
	}
	b.store.head.Issued, b.store.head.Rows = 300_000, core.Counts{task.Failed: 300_000}
	b.Ledger = b.store.ledger()
	b.Reopen(ended, true, false)
	b.Cancel("enough", at(1))
	if h := b.Head(); h.Rows != (core.Counts{task.Cancelled: 300_000}) || h.Ended.IsZero() {
		t.Errorf("%+v", h)
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	b := newBed(core.Record{}, 9)
	b.place(3, "w")
	b.place(2, "v")
	b.event(task.StartedEvent, 0, nil)
	b.end(0, task.Success)
	b.event(task.ReturnedEvent, 1, nil)
	for _, l := range []*core.Ledger{b.Ledger, b.store.ledger()} {
		if l.Assigned("w") != 1 || l.Assigned("v") != 2 || l.Assigned("u") != 0 {
			t.Errorf("w has %d, v %d, u %d", l.Assigned("w"), l.Assigned("v"), l.Assigned("u"))
		}
	}
}

// The outputs of a sweep are as large as those of its tasks were when their attempts ended last. An
// attempt of which that is not known changes nothing.
func TestSizeOfOutputs(t *testing.T) {
	t.Parallel()
	b := newBed(core.Record{Retry: task.Retry{Error: 2}}, 2)
	b.place(2, "w")
	left := func(index int64, class task.Class, bytes int64) {
		b.event(task.StartedEvent, index, nil)
		b.event(task.EndedEvent, index, &task.Outcome{Class: class, Left: bytes})
	}
	left(0, task.Success, 1000)
	left(1, task.Error, 500)
	if h := b.Head(); h.Bytes != 1500 {
		t.Errorf("%d bytes", h.Bytes)
	}
	b.Ledger = b.store.ledger() // the master is started again
	for _, bytes := range []int64{700, 0} {
		b.Place(core.Offer{Worker: "w", Tasks: 1}, at(1000))
		b.keep()
		left(1, task.Error, bytes)
	}
	if h, row := b.Head(), b.store.rows[1]; h.Bytes != 1700 || row.Bytes != 700 {
		t.Errorf("after other attempts: %d bytes, and the task has %d", h.Bytes, row.Bytes)
	}
}
