package store_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// Columns that were looked at stay in memory as far as there is room, and a question is answered
// the same with and without them.
func TestRecentColumnsAreBounded(t *testing.T) {
	t.Parallel()
	s, first := begin(t, newRecord())
	second, err := s.Add(context.Background(),
		store.NewSweep{Record: newRecord(), Total: 1 << 30, Submitted: at(0)})
	if err != nil {
		t.Fatal(err)
	}
	const tasks = 100
	for _, sw := range []store.Sweep{first, second} {
		var all []core.Task
		for i := range int64(tasks) {
			t := endedTask(3 * i)
			t.Attempt.Outcome.Reason = fmt.Sprint("reason ", i)
			all = append(all, t)
		}
		commit(t, s, sw, core.Changes{Head: sw.Head, Tasks: all})
	}
	const room = tasks * (9 + 3*8)
	s.KeepAtMost(room, 10)
	ask := func(sw store.Sweep, q store.TaskQuery) (found []string) {
		t.Helper()
		err := s.Scan(context.Background(), sw, q, func(t *core.Task) bool {
			o := t.Attempt.Outcome
			found = append(found, fmt.Sprint(t.Index, t.State, t.Attempt.Start.Slot, o.Duration,
				o.ExitCode != nil && *o.ExitCode == 1, o.Reason, o.Metrics))
			return len(found) < 70
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	kept := 0
	for _, fields := range []table.Fields{table.FieldSlot | table.FieldDuration,
		table.FieldExitCode | table.FieldDuration, table.FieldReason,
		table.FieldMetrics | table.FieldDuration} {
		for _, sw := range []store.Sweep{first, second, first} {
			for _, q := range []store.TaskQuery{{}, {From: 100},
				{States: []task.State{task.Succeeded}, From: 30}} {
				q.Fields, q.Metrics = fields, []string{"accuracy"}
				got := ask(sw, q)
				if used := s.Kept(); used > room {
					t.Fatalf("%d bytes are kept, more than %d", used, room)
				} else if used > 0 {
					kept++
				}
				q.Limit = 70 // reads the store
				if want := ask(sw, q); !slices.Equal(got, want) {
					t.Errorf("%+v:\n%v\nwant\n%v", q, got, want)
				}
			}
		}
	}
	if kept == 0 {
		t.Error("nothing was ever kept")
	}
}

// The index of a task is bounded by its sweep's space, not by how many tasks the sweep has.
func TestTasksOfGreatIndexesAreFound(t *testing.T) {
	t.Parallel()
	const first, tasks = 1 << 60, 5
	r := newRecord()
	r.Ranges = core.Ranges{{From: first, To: first + tasks}}
	s, sw := begin(t, r)
	sw.Head.Total = tasks
	s.KeepAtMost(1<<20, 1)
	var all []core.Task
	var want, got []int64
	for i := range int64(tasks) {
		all, want = append(all, endedTask(first+i)), append(want, first+i)
	}
	commit(t, s, sw, core.Changes{Head: sw.Head, Tasks: all})
	sw.Head.Rows[task.Succeeded] = tasks
	err := s.Scan(context.Background(), sw, store.TaskQuery{Fields: table.FieldDuration},
		func(t *core.Task) bool {
			got = append(got, t.Index)
			return true
		})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("found %v (%v), want %v", got, err, want)
	}
}

// Columns stay within their room while they are read from the store, and when only commits follow.
func TestRecentColumnsStayWithinTheirRoom(t *testing.T) {
	t.Parallel()
	s, first := begin(t, newRecord())
	second, err := s.Add(context.Background(),
		store.NewSweep{Record: newRecord(), Total: 1 << 30, Submitted: at(0)})
	if err != nil {
		t.Fatal(err)
	}
	const tasks = 100
	const room = tasks * (9 + 3*8)
	s.KeepAtMost(room, 1)
	add := func(sw *store.Sweep, from int64) {
		var all []core.Task
		for i := range int64(tasks) {
			all = append(all, endedTask(from+i))
			all[i].Attempt.Outcome.Reason = fmt.Sprint("reason ", from+i)
		}
		commit(t, s, *sw, core.Changes{Head: sw.Head, Tasks: all})
		sw.Head.Rows[task.Succeeded] += tasks
	}
	add(&first, 0)
	add(&second, 0)
	ask := func(what string, sw store.Sweep, fields table.Fields) {
		t.Helper()
		most := int64(0)
		err := s.Scan(context.Background(), sw, store.TaskQuery{Fields: fields},
			func(*core.Task) bool {
				most = max(most, s.Kept())
				return true
			})
		if err != nil || most > room || s.Kept() == 0 {
			t.Errorf("%s: %d bytes are kept while it is answered and %d then, of %d (%v)", what,
				most, s.Kept(), room, err)
		}
	}
	ask("the first columns", first, table.FieldSlot|table.FieldDuration)
	ask("others of the same sweep", first, table.FieldStarted|table.FieldExitCode)
	ask("those of another sweep", second, table.FieldSlot|table.FieldDuration)
	for i := range int64(5) {
		add(&second, (1+i)*tasks)
		if kept := s.Kept(); kept > room {
			t.Errorf("%d commits later %d bytes are kept, more than %d", i+1, kept, room)
		}
	}
}

// A question that waits for columns while another reads them does not answer from them when they
// were forgotten meanwhile: what was committed since is not in them.
func TestForgottenColumnsAnswerNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, first := begin(t, newRecord())
	second, err := s.Add(ctx, store.NewSweep{Record: newRecord(), Total: 1 << 30, Submitted: at(0)})
	if err != nil {
		t.Fatal(err)
	}
	s.KeepAtMost(1<<20, 1)
	for _, sw := range []store.Sweep{first, second} {
		commit(t, s, sw, core.Changes{Head: sw.Head,
			Tasks: []core.Task{endedTask(0), endedTask(1), endedTask(2)}})
	}
	// ask stops at the task with a number until it may go on, and tells the slot of the last one.
	ask := func(stop int) (stopped, goOn chan struct{}, slot chan int) {
		stopped, goOn, slot = make(chan struct{}), make(chan struct{}), make(chan int, 1)
		go func() {
			n, last := 0, 0
			if err := s.Scan(ctx, first, store.TaskQuery{Fields: table.FieldSlot},
				func(t *core.Task) bool {
					if last = t.Attempt.Start.Slot; n == stop {
						close(stopped)
						<-goOn
					}
					n++
					return true
				}); err != nil {
				t.Error(err)
			}
			slot <- last
		}()
		return stopped, goOn, slot
	}
	early, lateGoes, late := ask(0) // in the store
	<-early
	reads, readerGoes, reader := ask(1) // in the columns
	<-reads
	if err := s.Scan(ctx, second, store.TaskQuery{Fields: table.FieldSlot},
		func(*core.Task) bool { return true }); err != nil {
		t.Fatal(err)
	}
	close(lateGoes)
	for deadline := time.Now().Add(10 * time.Second); s.Newest() != first.Seq; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the other question does not get to the columns")
		}
	}
	s.ForgetColumns()
	moved := endedTask(2)
	moved.Attempt.Start.Slot = 7
	commit(t, s, first, core.Changes{Head: first.Head, Tasks: []core.Task{moved}})
	close(readerGoes)
	<-reader
	if got := <-late; got != 7 {
		t.Errorf("the slot is %d, want 7", got)
	}
}
