package core_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// TestChangesSeesEveryField changes one field of a record after the other: a field that tasks.yml
// sets is told as a change.
func TestChangesSeesEveryField(t *testing.T) {
	t.Parallel()
	notTasksYml := map[string]bool{"Version": true, "Space": true, "Extensions": true,
		"Overrides": true, "Workers": true, "Ranges": true, "Priority": true, "Project": true,
		"Image": true, "Images": true, "Earlier": true, "Definition": true, "Revision": true,
		"Recipe": true, "CountsRepeats": true, "CommandLine": true, "KeepGoing": true,
		// also of the user's own file, and clients are not told all of it
		"Notify": true, "Notices": true,
		"OnEnd": true, // a sweep keeps its own, as it does Notify
		"After": true, "Pruned": true}
	check := func(name string, v reflect.Value, r *core.Record) {
		t.Helper()
		if notTasksYml[name] {
			return
		}
		set(v)
		if changes := (core.Record{}).Changes(*r); len(changes) != 1 ||
			!strings.Contains(changes[0].String(), changes[0].Key) {
			t.Errorf("%s differs, and what is told is %v", name, changes)
		}
	}
	for i := range reflect.TypeFor[core.Record]().NumField() {
		r := core.Record{}
		check(reflect.TypeFor[core.Record]().Field(i).Name, reflect.ValueOf(&r).Elem().Field(i), &r)
	}
	for i := range reflect.TypeFor[task.Recipe]().NumField() {
		r := core.Record{}
		check(reflect.TypeFor[task.Recipe]().Field(i).Name,
			reflect.ValueOf(&r.Recipe).Elem().Field(i), &r)
	}
}

// set gives a value something.
func set(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				set(v.Field(i))
				return
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		set(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("A"), reflect.ValueOf("b"))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1)
	default:
		v.SetInt(7)
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	was := core.Record{Retry: task.Retry{Lost: 3}, Recipe: task.Recipe{Command: []string{"a.py"},
		Env: map[string]string{"A": "1", "B": "2"}, Grace: 10 * time.Second}}
	is := was
	is.Recipe.Command, is.Recipe.Timeout = []string{"b.py", "x y"}, 2*time.Hour
	is.Recipe.Idle = task.Idle{Below: 5, For: 30 * time.Minute}
	is.Recipe.Env = map[string]string{"A": "3", "C": ""}
	is.Style, is.EachWorker = space.Style{Space: true, Switch: space.SwitchValue}, true
	is.Retry.OOM, is.Objective, is.Recipe.Metrics = 1, metric.Objective{Maximize: true,
		Metric: "acc"}, []metric.Rule{{Name: "acc", Pattern: "acc (.*)"}}
	var got []string
	for _, c := range was.Changes(is) {
		got = append(got, c.String())
	}
	want := []string{"env (A=1 before, A=3 now, - B, + C=)", "timeout (none before, 2h0m0s now)",
		"idle (none before, below 5% for 30m0s now)",
		"retry (error 0, timeout 0, oom 0, lost 3 before, error 0, timeout 0, oom 1, lost 3 now)",
		"metrics (none before, acc 'acc (.*)' now)",
		"objective (none before, maximize acc now)", "command (a.py before, b.py 'x y' now)",
		"flags (equals before, space now)", "switch (flag before, value now)",
		"each (point before, worker now)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	ranked := is
	ranked.Objective.Timeouts = true
	if diff := cmp.Diff([]core.Change{{Key: "rank", Was: "none", Is: "timeout"}},
		is.Changes(ranked)); diff != "" {
		t.Errorf("timeouts are ranked: (-want +got)\n%s", diff)
	}
	if same := is.Changes(is); len(same) > 0 {
		t.Errorf("%v", same)
	}
	empty := core.Record{Recipe: task.Recipe{Env: map[string]string{}, Metrics: []metric.Rule{},
		Outputs: []string{}}}
	if same := (core.Record{}).Changes(empty); len(same) > 0 {
		t.Errorf("nothing and none differ: %v", same)
	}
}

// What an attempt ran with is told by its revision, also when it was handed out before a change and
// began after it, and by its time where the sweep came back to a revision.
func TestSettingsOf(t *testing.T) {
	t.Parallel()
	at := func(hour int) time.Time { return time.Date(2026, 3, 1, hour, 0, 0, 0, time.UTC) }
	with := func(v string) core.Settings { return core.Settings{Env: map[string]string{"V": v}} }
	r := core.Record{Recipe: task.Recipe{Revision: "a", Env: map[string]string{"V": "1"}}}
	r, _ = r.Revised("b", with("2"), at(1))
	r, _ = r.Revised("b", with("3"), at(2))
	r, _ = r.Revised("a", with("4"), at(3))
	if same, changed := r.Revised("a", with("4"), at(4)); changed || len(same.Earlier) != 3 {
		t.Errorf("nothing changes: %+v", same)
	}
	for _, c := range []struct {
		revision string
		hour     int
		want     string
	}{{"a", 0, "1"}, {"a", 2, "1"}, {"b", 1, "2"}, {"b", 2, "3"}, {"b", 9, "3"}, {"a", 3, "4"},
		{"unknown", 2, "3"}, {"unknown", 5, "4"}} {
		if got := r.SettingsOf(core.Attempt{Revision: c.revision,
			Started: at(c.hour)}).Env["V"]; got != c.want {
			t.Errorf("revision %s at %d ran with %s, not %s", c.revision, c.hour, got, c.want)
		}
	}
	if got := r.Settings().Env["V"]; got != "4" {
		t.Errorf("from now on %s", got)
	}
}

// The metrics of an attempt are the same as long as no change of the sweep since it ran changed
// their rules.
func TestSameMetrics(t *testing.T) {
	t.Parallel()
	at := func(hour int) time.Time { return time.Date(2026, 3, 1, hour, 0, 0, 0, time.UTC) }
	a, b := metric.Rule{Name: "acc", File: "r.json", Key: "a"}, metric.Rule{Name: "acc",
		File: "r.json", Key: "b"}
	loss := metric.Rule{Name: "loss"}
	with := func(rules ...metric.Rule) core.Settings { return core.Settings{Metrics: rules} }
	r := core.Record{Recipe: task.Recipe{Revision: "r", Metrics: []metric.Rule{a}}}
	r, _ = r.Revised("r", with(b, loss), at(1))
	r, _ = r.Revised("r", with(a, loss), at(2))
	for _, c := range []struct {
		hour int
		now  []metric.Rule
		want []metric.Rule
	}{
		{0, []metric.Rule{a, loss}, nil},
		{1, []metric.Rule{a, loss}, []metric.Rule{loss}},
		{2, []metric.Rule{a, loss}, []metric.Rule{a, loss}},
		{3, []metric.Rule{loss, b}, []metric.Rule{loss}},
	} {
		got := r.SameMetrics(c.now, core.Attempt{Revision: "r", Started: at(c.hour)})
		if !slices.Equal(got, c.want) {
			t.Errorf("of an attempt at %d with %v now: %v, want %v", c.hour, c.now, got, c.want)
		}
	}
}
