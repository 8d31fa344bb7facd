package store_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/space"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

func TestMain(m *testing.M) {
	if folder := os.Getenv("STORE_TEST_CHILD"); folder != "" {
		child(folder)
		return
	}
	os.Exit(m.Run())
}

// all reads the tasks of a query.
func all(t *testing.T, r *store.Reader, sw store.Sweep, q store.TaskQuery) (tasks []core.Task) {
	t.Helper()
	for row, err := range r.Tasks(context.Background(), sw, q) {
		if err != nil {
			t.Fatal(err)
		}
		tasks = append(tasks, row)
	}
	return tasks
}

// rowsOf returns changes of one sweep as rows of a step.
func rowsOf(sw store.Sweep, c core.Changes) *core.Rows {
	return &core.Rows{Sweeps: []core.SweepRows{{Seq: sw.Seq, Record: &sw.Record, Head: sw.Head,
		Changes: c}}}
}

// commit keeps changes of one sweep.
func commit(t *testing.T, s *store.Store, sw store.Sweep, c core.Changes) {
	t.Helper()
	if err := s.Commit(context.Background(), rowsOf(sw, c)); err != nil {
		t.Fatal(err)
	}
}

// sameSpace compares spaces by their stored form.
var sameSpace = cmp.Comparer(func(a, b *space.Space) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
})

func differs(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs(), sameSpace); diff != "" {
		t.Errorf("%s: -want +got:\n%s", what, diff)
	}
}

// fullTask has a value in every field.
func fullTask() core.Task {
	code := -3
	return core.Task{
		Index: 1 << 40, State: task.Failed, Cancelling: true,
		Charged:   task.Retry{Error: 1, Timeout: 2, OOM: 3, Lost: 4},
		NotBefore: at(0.000001), Lapsed: task.Running, Attempts: 7, Failed: "d5c7",
		Attempt: core.Attempt{
			Number: 8, Revision: "r2", Worker: "w \"ö\x00",
			Devices: []task.Device{{UUID: "GPU-1", Index: "0", Name: "L4"}, {UUID: "GPU-2"}},
			Start:   task.Start{Host: "hôst", Slot: 3, Resumed: true},
			Started: at(1.5),
			Outcome: &task.Outcome{
				Class: task.Error, ExitCode: &code, Reason: "ended by SIGSEGV\n",
				Frame:    "a \"b\"/ü.py:3",
				Duration: 1234567 * time.Microsecond,
				Metrics: metric.Final{{Name: "z", Value: 0.1}, {Name: "a", Value: math.NaN()},
					{Name: "ü", Value: -1e300}, {Name: "i", Value: math.Inf(1)},
					{Name: "j", Value: math.Inf(-1)}},
				Stdout: task.Output{Bytes: 1 << 50, Truncated: true}, Stderr: task.Output{Bytes: 2},
				Unmeasured: []string{"metric z: no file"}, Thinned: &metric.Thinned{Kept: 1,
					Samples: 2, Ignored: 3},
			},
		},
	}
}

func TestTasks(t *testing.T) {
	t.Parallel()
	s, sw := begin(t, newRecord())
	bare := core.Task{Index: 3, State: task.Queued, Attempt: core.Attempt{Number: 1}}
	reason := endedTask(9)
	want := []core.Task{{Index: 0}, bare, endedTask(5), reason, fullTask()}
	commit(t, s, sw, core.Changes{Tasks: want})
	differs(t, "all", want, all(t, &s.Reader, sw, store.TaskQuery{}))
	for _, w := range want {
		got, ok, err := s.Task(context.Background(), sw, w.Index)
		if err != nil || !ok {
			t.Fatalf("task %d: %v %v", w.Index, ok, err)
		}
		differs(t, "one", w, got)
	}
	if _, ok, err := s.Task(context.Background(), sw, 4); ok || err != nil {
		t.Errorf("a task without a row: %v %v", ok, err)
	}
	commit(t, s, sw, core.Changes{Tasks: []core.Task{bare, {Index: 5}}})
	differs(t, "replaced", []core.Task{{Index: 0}, bare, {Index: 5}, reason, fullTask()},
		all(t, &s.Reader, sw, store.TaskQuery{}))
}

func TestQueries(t *testing.T) {
	t.Parallel()
	s, sw := begin(t, newRecord())
	var tasks []core.Task
	for i := range int64(10) {
		// the objective is the index modulo 997; index 110 has 110, 997 has 0
		tasks = append(tasks, endedTask(i*997/9))
	}
	tasks = append(tasks, core.Task{Index: 1000, State: task.Running}, core.Task{Index: 1001},
		core.Task{Index: 1002, State: task.Lost})
	commit(t, s, sw, core.Changes{Tasks: tasks})
	other, err := s.Add(context.Background(), store.NewSweep{Record: newRecord(), Total: 5})
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s, other,
		core.Changes{Tasks: []core.Task{endedTask(1), {Index: 2, State: task.Lost}, {Index: 3}}})
	for name, test := range map[string]struct {
		q    store.TaskQuery
		want []int64
	}{
		"limit": {store.TaskQuery{Limit: 2}, []int64{0, 110}},
		"from":  {store.TaskQuery{From: 998}, []int64{1000, 1001, 1002}},
		"open": {store.TaskQuery{States: []task.State{task.Pending, task.Running}},
			[]int64{1000, 1001}},
		"failures": {store.TaskQuery{States: []task.State{task.Lost, task.Failed}}, []int64{1002}},
		"mixed": {store.TaskQuery{States: []task.State{task.Lost, task.Succeeded, task.Pending},
			From: 700, Limit: 4}, []int64{775, 886, 997, 1001}},
		"highest":    {store.TaskQuery{Best: 1, Limit: 3}, []int64{886, 775, 664}},
		"lowest":     {store.TaskQuery{Best: -1, Limit: 3}, []int64{0, 997, 110}},
		"best of":    {store.TaskQuery{Best: -1, Limit: 1, From: 1}, []int64{997}},
		"best state": {store.TaskQuery{Best: 1, States: []task.State{task.Lost}}, nil},
	} {
		var got []int64
		for _, row := range all(t, &s.Reader, sw, test.q) {
			got = append(got, row.Index)
		}
		differs(t, name, test.want, got)
	}
	open, ahead, err := s.Unfinished(context.Background(), sw, 997)
	if err != nil {
		t.Fatal(err)
	}
	differs(t, "open", []core.Task{tasks[10], tasks[11]}, open)
	differs(t, "ahead", []int64{997, 1000, 1001, 1002}, ahead)
}
