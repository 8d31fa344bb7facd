package worker_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// The settings of an open sweep can change at the same revision: what is sent later runs by the new
// ones, also on a worker that has run tasks of the sweep.
func TestAChangedRecipeHoldsForWhatIsSentLater(t *testing.T) {
	t.Parallel()
	const script = `echo "loss: 1 acc: 2 set: $SET"; sleep "$FOR"`
	rules := func(name string) []metric.Rule {
		return []metric.Rule{{Name: name, Pattern: name + ": ([0-9.]+)"}}
	}
	s := newSite(t, nil)
	before := batch(script, 0)
	before.Recipe.Metrics, before.Recipe.Env = rules("loss"), map[string]string{"FOR": "0"}
	s.send(before)
	if o := s.ended(0, 1); o.Class != task.Success || len(o.Metrics) != 1 ||
		o.Metrics[0].Name != "loss" {
		t.Errorf("before the change: %+v", o)
	}
	for i, c := range []struct {
		name   string
		change func(*task.Recipe)
		class  task.Class
		finals []string
	}{
		{"metrics", func(r *task.Recipe) { r.Metrics = rules("acc") }, task.Success,
			[]string{"acc"}},
		{"a time limit", func(r *task.Recipe) {
			r.Env, r.Timeout = map[string]string{"FOR": "60"}, 100*time.Millisecond
		}, task.TimedOut, []string{"loss"}},
		{"the environment", func(r *task.Recipe) {
			r.Env = map[string]string{"FOR": "0", "SET": "3"}
			r.Metrics = rules("set")
		}, task.Success, []string{"set"}},
	} {
		index := int64(i + 1)
		after := batch(script, index)
		after.Recipe.Metrics, after.Recipe.Env = before.Recipe.Metrics, before.Recipe.Env
		c.change(&after.Recipe)
		s.send(after)
		o := s.ended(index, 1)
		var finals []string
		for _, m := range o.Metrics {
			finals = append(finals, m.Name)
		}
		if diff := cmp.Diff(c.finals, finals); o.Class != c.class || diff != "" {
			t.Errorf("after %s changed: %s, want %s (-want +got):\n%s", c.name, o.Class, c.class,
				diff)
		}
	}
}
