package store_test

import (
	"context"
	"strings"
	"testing"

	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// TestPlans holds every page to an index: no query reads all tasks of a sweep, none sorts them.
func TestPlans(t *testing.T) {
	t.Parallel()
	s, sw := begin(t, newRecord())
	bad := []task.State{task.Failed, task.Timeout, task.OOM, task.Lost, task.Cancelled}
	for name, test := range map[string]struct {
		q    store.TaskQuery
		want string // in every step that searches
	}{
		"page": {store.TaskQuery{From: 9, Limit: 50}, "PRIMARY KEY (sweep=? AND idx>?)"},
		"unfinished": {store.TaskQuery{States: []task.State{task.Pending, task.Queued, task.Claimed,
			task.Running}}, "INDEX tasks_open (sweep=? AND state=? AND idx>?)"},
		"failed": {store.TaskQuery{States: bad[:1], Limit: 50},
			"INDEX tasks_bad (sweep=? AND state=? AND idx>?)"},
		"failures": {store.TaskQuery{States: bad, Limit: 50},
			"INDEX tasks_bad (sweep=? AND state=? AND idx>?)"},
		"succeeded": {store.TaskQuery{States: []task.State{task.Succeeded}},
			"PRIMARY KEY (sweep=? AND idx>?)"},
		"single":  {store.TaskQuery{Indexes: []int64{7, 9}}, "PRIMARY KEY (sweep=? AND idx=?)"},
		"lowest":  {store.TaskQuery{Best: -1, Limit: 10}, "INDEX tasks_best (sweep=?"},
		"highest": {store.TaskQuery{Best: 1, Limit: 10}, "INDEX tasks_best (sweep=?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps, err := s.Plan(context.Background(), sw, test.q)
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range steps {
				if strings.HasPrefix(step, "SEARCH") && !strings.Contains(step, test.want) ||
					strings.HasPrefix(step, "SCAN") && !strings.HasPrefix(step, "SCAN json_each") ||
					step == "USE TEMP B-TREE FOR ORDER BY" {
					t.Errorf("%q in\n%s", step, strings.Join(steps, "\n"))
				}
			}
		})
	}
}
