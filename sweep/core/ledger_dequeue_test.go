package core_test

import (
	"slices"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// offer is room for ten tasks at an empty worker, beside others.
func offer(worker string) core.Offer {
	return core.Offer{Worker: worker, Tasks: 10, Empty: true, OtherWorkers: true}
}

// TestWhoGetsAnotherAttempt ends the first attempt of a task on w and looks who may have the next,
// and when.
func TestWhoGetsAnotherAttempt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		class  task.Class
		worker string
		others bool
		from   float64 // seconds after its back-off
	}{
		{"the worker with its outputs at once", task.Error, "w", true, 0},
		{"another a second later", task.Error, "v", true, 1},
		{"the host that could not run it last", task.Loss, "w", true, 10},
		{"another at once", task.Loss, "v", true, 0},
		{"the only worker at once, whatever happened", task.Loss, "w", false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBed(core.Record{Retry: task.Retry{Error: 1, Lost: 1}}, 1)
			b.bring(task.Running)
			b.end(0, c.class)
			due := 2.0 // it ended at 1, and the first back-off is a second
			o := core.Offer{Worker: c.worker, Tasks: 1, Empty: true, OtherWorkers: c.others}
			if got := b.Place(o, at(due+c.from-0.001)); len(got) > 0 {
				t.Error("it was handed out earlier")
			}
			if got := b.Place(o, at(due+c.from)); len(got) != 1 {
				t.Error("it was not handed out")
			}
		})
	}
}

// TestWhatWasLostTwiceRunsAlone loses task 0 twice: it goes to an empty worker only, which gets
// nothing else.
func TestWhatWasLostTwiceRunsAlone(t *testing.T) {
	t.Parallel()
	b := newBed(core.Record{Retry: task.Retry{Lost: 3}}, 3)
	for range 2 {
		b.Place(core.Offer{Worker: "w", Tasks: 1, Empty: true}, at(100))
		b.event(task.StartedEvent, 0, nil)
		b.MarkLost("w", "gone", core.Vanished, at(1))
		b.keep()
	}
	busy := offer("v")
	busy.Empty = false
	if got := indexes(b.Place(busy, at(200))); !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("a busy worker got %v", got)
	}
	b.keep()
	got, exclusive := indexes(b.Place(offer("w"), at(200))), b.HasExclusive("w")
	if !slices.Equal(got, []int64{0}) || !exclusive {
		t.Errorf("an empty worker got %v; exclusive: %t", got, exclusive)
	}
	b.keep()
	if anew := b.store.ledger(); !anew.HasExclusive("w") || anew.HasExclusive("v") {
		t.Error("a master that starts now does not know who runs alone")
	}
	b.event(task.StartedEvent, 0, nil)
	b.end(0, task.Success)
	if b.HasExclusive("w") {
		t.Error("it has ended")
	}
}

func TestTasksForCertainWorkers(t *testing.T) {
	t.Parallel()
	b := newBed(core.Record{EachWorker: true, Workers: []string{"u", "v", "w"}}, 3)
	b.keep()
	if got := b.store.head.Rows[task.Pending]; got != 3 {
		t.Fatalf("%d rows", got)
	}
	for _, c := range []struct {
		worker string
		want   []int64
	}{{"w", []int64{2}}, {"x", nil}, {"u", []int64{0}}, {"u", nil}} {
		if got := indexes(b.Place(offer(c.worker), at(1))); !slices.Equal(got, c.want) {
			t.Errorf("%s got %v, want %v", c.worker, got, c.want)
		}
		b.keep()
	}
	if err := b.store.check(b.Ledger); err != nil {
		t.Error(err)
	}
}

func TestHeard(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		prepare func(*bed)
		worker  string
		number  int
		want    task.ControlKind
	}{
		{"what counts", func(*bed) {}, "w", 1, ""},
		{"an attempt of another worker", func(*bed) {}, "v", 1, task.StopControl},
		{"an attempt that was followed by another", func(*bed) {}, "w", 0, task.StopControl},
		{"one of a task that was cancelled", func(b *bed) { b.CancelTask(0, "enough", at(2)) },
			"w", 1, task.StopControl},
		{"one of a sweep that is being stopped", func(b *bed) { b.Pause("wait", true) }, "w", 1,
			task.StopControl},
		{"one of a sweep that is paused", func(b *bed) { b.Pause("wait", false) }, "w", 1, ""},
		{"one that has ended", func(b *bed) { b.end(0, task.Success) }, "w", 1, task.StopControl},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBed(core.Record{}, 1)
			b.bring(task.Running)
			c.prepare(b)
			b.keep()
			b.ConfirmRunning(c.worker, 0, c.number)
			var kind task.ControlKind
			for _, o := range b.keep().Controls {
				kind = o.Control.Kind
				if o.Worker != c.worker || o.Control.Index != 0 || o.Control.Attempt != c.number {
					t.Errorf("%+v", o)
				}
			}
			if kind != c.want {
				t.Errorf("the worker is told %q, want %q", kind, c.want)
			}
		})
	}
}

// TestWhatMustRunAloneGetsAnEmptyWorkerInTheEnd: none gets empty while there is other work.
func TestWhatMustRunAloneGetsAnEmptyWorkerInTheEnd(t *testing.T) {
	t.Parallel()
	b := newBed(core.Record{Retry: task.Retry{Lost: 3}}, 3)
	for n := range 2 {
		if b.ExclusiveWaits(at(1000)) {
			t.Errorf("after %d losses", n)
		}
		b.Place(core.Offer{Worker: "w", Tasks: 1, Empty: true}, at(100))
		b.event(task.StartedEvent, 0, nil)
		b.MarkLost("w", "gone", core.Vanished, at(1))
		b.keep()
	}
	due := b.store.rows[0].NotBefore
	if b.ExclusiveWaits(due.Add(9*time.Second)) || !b.ExclusiveWaits(due.Add(10*time.Second)) {
		t.Error("it waits for a worker of its own ten seconds after its back-off")
	}
	only := offer("v")
	only.Exclusive = true
	if got := indexes(b.Place(only, at(200))); !slices.Equal(got, []int64{0}) {
		t.Errorf("a worker that was emptied for it got %v", got)
	}
	if b.keep(); b.ExclusiveWaits(at(1000)) {
		t.Error("it has its worker")
	}
}

func TestTasksOfAWorkerThatIsGoneForGoodAreCancelled(t *testing.T) {
	t.Parallel()
	b := newBed(core.Record{EachWorker: true, Workers: []string{"u", "v"}}, 2)
	b.place(1, "u")
	b.CancelPinned("x", at(1))
	b.CancelPinned("v", at(1))
	b.keep()
	if got := b.store.rows[1].State; got != task.Cancelled {
		t.Errorf("the task of v is %v", got)
	}
	b.event(task.StartedEvent, 0, nil)
	b.end(0, task.Success)
	if got := b.store.head.State; got != core.Finished {
		t.Errorf("the sweep is %s", got)
	}
	if err := b.store.check(b.Ledger); err != nil {
		t.Error(err)
	}
}
