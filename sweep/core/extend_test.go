package core_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
	"mlframework/sweep/space"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

func spaceOf(t *testing.T, text string) *space.Space {
	t.Helper()
	s, _, err := space.Read("parameters.yml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// argvs are the indexes and arguments of all tasks of a record, as its Source has them.
func argvs(t *testing.T, r core.Record, total int64) (all []string) {
	t.Helper()
	source := r.Source()
	for n := range total {
		index := source.At(n)
		if back, ok := source.Ordinal(index); back != n || !ok {
			t.Errorf("the ordinal of task %d is %d, %t; want %d", index, back, ok, n)
		}
		args, _ := source.Point(index)
		all = append(all, strings.Join(append([]string{fmt.Sprint(index)}, args...), " "))
	}
	return all
}

func TestExtended(t *testing.T) {
	t.Parallel()
	r, total := core.Record{Space: spaceOf(t, "a: [1, 2]\nb: [3, 4]")}, int64(4)
	for _, step := range []struct {
		text string
		more int64
	}{
		{"a: [2, 1]\nb: 3", 0},
		{"a: [1, 2]\nb: [3, 4, 5]", 2},
		{"a: [0, 1, 2]\nb: [3, 4, 5]", 3},
		{"a: [0, 1, 2]\nb: [3, 4, 5]", 0},
		{"a: 1\nb: 3\nc: [6, 7]", 2},
	} {
		extended, more, err := r.Extended(spaceOf(t, step.text))
		if err != nil || more != step.more {
			t.Fatalf("%s: %d more, want %d: %v", step.text, more, step.more, err)
		}
		r, total = extended, total+more
	}
	want := []string{"0 --a=1 --b=3", "1 --a=1 --b=4", "2 --a=2 --b=3", "3 --a=2 --b=4",
		"4 --a=1 --b=5", "5 --a=2 --b=5", "6 --a=0 --b=3", "7 --a=0 --b=4", "8 --a=0 --b=5",
		"9 --a=1 --b=3 --c=6", "10 --a=1 --b=3 --c=7"}
	if diff := cmp.Diff(want, argvs(t, r, total)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, r.Schema().Parameters); diff != "" {
		t.Errorf("columns: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(table.Parameters{{Name: "a", Value: "0"}, {Name: "b", Value: "5"}},
		r.Rows("train-1")(core.Task{Index: 8}).Parameters); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A sweep of what was missing keeps its indexes, and what was left out of it stays out.
func TestExtendedOfAPart(t *testing.T) {
	t.Parallel()
	before := core.Record{Space: spaceOf(t, "a: [1, 2, 3, 4]"),
		Ranges: core.Ranges{{From: 1, To: 2}, {From: 3, To: 4}}}
	r, more, err := before.Extended(spaceOf(t, "a: [1, 2, 3, 4, 5, 6]"))
	if err != nil || more != 2 {
		t.Fatalf("%d more: %v", more, err)
	}
	if diff := cmp.Diff([]string{"1 --a=2", "3 --a=4", "4 --a=5", "5 --a=6"},
		argvs(t, r, 4)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(before.Ranges) != 2 || len(before.Extensions) != 0 {
		t.Errorf("the record that was extended changed: %+v", before)
	}
}

func TestExtendedBeyondCounting(t *testing.T) {
	t.Parallel()
	r := core.Record{Space: spaceOf(t, fmt.Sprintf("a: !interval [0, %d]", math.MaxInt64-1))}
	_, more, err := r.Extended(spaceOf(t, "b: [1, 2]"))
	if want := "9223372036854775806 tasks and 2 more are more than can be counted"; err == nil ||
		err.Error() != want {
		t.Errorf("%d, %v", more, err)
	}
	if extended, more, err := r.Extended(spaceOf(t, "b: 1")); err != nil || more != 1 ||
		extended.Points().Flags(nil, math.MaxInt64-1)[0] != "--b=1" {
		t.Errorf("%d, %v", more, err)
	}
}

// TestExtend extends a sweep in every state in which it can be; its tasks go on behind those it
// has.
func TestExtend(t *testing.T) {
	t.Parallel()
	for name, bring := range map[string]func(*bed){
		"running": func(*bed) {},
		"paused":  func(b *bed) { b.Pause("lunch", true) },
		"finished": func(b *bed) {
			b.place(2, "w")
			b.run(0, task.Success)
			b.run(1, task.Error)
		},
		"cancelled task by task": func(b *bed) {
			b.CancelTask(0, "", at(0))
			b.CancelTask(1, "", at(0))
		},
		"cancelled, retried and finished": func(b *bed) {
			b.place(2, "w")
			b.Cancel("enough", at(1))
			b.keep()
			b.end(0, task.Stopped)
			b.end(1, task.Stopped)
			b.Reopen([]core.Task{b.store.rows[0]}, false, false)
			b.place(1, "w")
			b.run(0, task.Success)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(core.Record{Space: spaceOf(t, "a: [1, 2]")}, 2)
			bring(b)
			b.keep()
			r, more, err := b.store.record.Extended(spaceOf(t, "a: [1, 2, 3]"))
			if err != nil {
				t.Fatal(err)
			}
			b.Extend(r, more)
			b.store.record = r
			b.keep()
			if h := b.store.head; h.State != core.Open || !h.Ended.IsZero() || h.Total != 3 ||
				h.Stopping {
				t.Errorf("%+v", h)
			}
			if err := b.store.check(b.Ledger); err != nil {
				t.Error(err)
			}
			if placed := indexes(b.place(9, "w")); !slices.Contains(placed, 2) {
				t.Errorf("it hands out %v", placed)
			}
		})
	}
}

// Tasks that were cancelled without a row could not be told from those that come.
func TestExtendRefused(t *testing.T) {
	t.Parallel()
	pending := core.Counts{task.Pending: 1}
	ended := core.Counts{task.Succeeded: 1, task.Cancelled: 1}
	for name, c := range map[string]struct {
		head    core.Head
		each    bool
		refused bool
	}{
		"running":             {head: core.Head{State: core.Open}},
		"a task for a worker": {core.Head{State: core.Open}, true, true},
		"cancelled": {core.Head{State: core.Cancelled, UnissuedCancelled: true},
			false, true},
		"cancelled and ending": {core.Head{State: core.Cancelled, Issued: 2, Rows: ended},
			false, true},
		"partly retried": {core.Head{State: core.Open, UnissuedCancelled: true, Issued: 1,
			Rows: pending}, false, true},
		"retried": {head: core.Head{State: core.Finished, UnissuedCancelled: true, Issued: 2,
			Rows: ended}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.head.ID, c.head.Total = "train-1", 2
			site, _ := core.Load(core.Options{}, nil, nil, at(0))
			site.Add(core.Loaded{Seq: 1, Head: c.head,
				Record: core.Record{Space: spaceOf(t, "a: [1, 2]"), EachWorker: c.each}})
			command := core.ExtendSweep{Sweep: "train-1", Space: spaceOf(t, "a: [1, 2, 3]")}
			err := site.Check(command)
			if wrong := new(core.WrongState); errors.As(err, &wrong) != c.refused {
				t.Fatalf("it is extended: %t; want %t: %v", err == nil, !c.refused, err)
			}
			effects := effectsOf(site, core.Input{Command: command}, at(1))
			if c.refused {
				return
			}
			if h := effects.Changed[0].Head; h.State != core.Open || h.Total != 3 ||
				h.Counts()[task.Pending] != 3-h.Issued {
				t.Errorf("%+v", h)
			}
		})
	}
}
