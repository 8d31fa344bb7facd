package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// group returns the n-th group that the tests of this file commit: ten new rows, ten that have
// ended, and the head, which says how many groups there are.
func group(sw store.Sweep, n int64) *core.Rows {
	c := core.Changes{Head: sw.Head}
	c.Head.Issued = (n + 1) * 10
	c.Head.Rows = core.Counts{task.Queued: 10, task.Succeeded: n * 10}
	for i := range int64(10) {
		c.Tasks = append(c.Tasks, core.Task{Index: n*10 + i, State: task.Queued,
			Attempt: core.Attempt{Number: 1}})
		if n > 0 {
			c.Tasks = append(c.Tasks, core.Task{Index: (n-1)*10 + i, State: task.Succeeded,
				Attempts: 1, Attempt: core.Attempt{Number: 1}})
		}
	}
	return rowsOf(sw, c)
}

// groups checks that a store holds whole groups only, and returns how many.
func groups(t *testing.T, r *store.Reader, sw store.Sweep) int64 {
	t.Helper()
	now, err := r.Sweep(context.Background(), sw.Head.ID)
	if err != nil {
		t.Fatal(err)
	}
	var rows core.Counts
	for i, row := range all(t, r, now, store.TaskQuery{}) {
		rows[row.State]++
		if row.Index != int64(i) {
			t.Fatalf("row %d is of task %d", i, row.Index)
		}
	}
	differs(t, "rows", now.Head.Rows, rows)
	return now.Head.Issued / 10
}

// child commits until it is killed, and prints how many groups are on disk.
func child(folder string) {
	ctx := context.Background()
	s, err := store.Open(ctx, folder, "the child")
	if err != nil {
		panic(err)
	}
	sw, err := s.Add(ctx, store.NewSweep{Record: newRecord(), Total: 1 << 30})
	for n := int64(0); err == nil; n++ {
		if err = s.Commit(ctx, group(sw, n)); err == nil {
			_, err = fmt.Println(n + 1)
		}
	}
	panic(err)
}

// TestKill kills a process that commits, several times at another moment: what it was told is
// there.
func TestKill(t *testing.T) {
	t.Parallel()
	for _, after := range []int{1, 7, 60, 300} {
		t.Run(strconv.Itoa(after), func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			confirmed := killed(t, folder, after)
			s, err := store.Open(context.Background(), folder, "test")
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			sw, err := s.Sweep(context.Background(), "train-1")
			if err != nil {
				t.Fatal(err)
			}
			if have := groups(t, &s.Reader, sw); have < confirmed || have > confirmed+1 {
				t.Errorf("%d groups were confirmed, %d are there", confirmed, have)
			}
			if err := s.Commit(context.Background(), group(sw, confirmed+1)); err != nil {
				t.Error(err)
			}
		})
	}
}

// killed runs a child until it has confirmed so many groups, kills it, and returns how many it
// confirmed. Meanwhile the store is refused to others.
func killed(t *testing.T, folder string, after int) (confirmed int64) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "STORE_TEST_CHILD="+folder)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for i := 1; lines.Scan(); i++ {
		confirmed, _ = strconv.ParseInt(lines.Text(), 10, 64)
		if i == after {
			_, err := store.Open(context.Background(), folder, "test")
			inUse, ok := errors.AsType[*store.InUse](err)
			if !ok || !strings.HasPrefix(inUse.Holder,
				fmt.Sprintf("the child (pid %d, since 2", cmd.Process.Pid)) {
				t.Errorf("a second writer: %v", err)
			}
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait()
	if confirmed < int64(after) {
		t.Fatalf("the child ended by itself after %d groups", confirmed)
	}
	return confirmed
}
