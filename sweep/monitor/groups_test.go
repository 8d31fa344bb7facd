package monitor_test

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/monitor"
	"mlframework/sweep/task"
)

// scores has accuracy depend on the first parameter and on the repeat; task 4 fails.
func scores(_ string, a task.Attempt) *task.Outcome {
	code := 0
	o := task.Outcome{Class: task.Success, ExitCode: &code, Duration: time.Millisecond,
		Metrics: metric.Final{{Name: "accuracy",
			Value: 0.5 + float64(a.Index/3)/10 + float64(a.Index%3)/100}}}
	if a.Index == 4 {
		code = 1
		o.Class, o.Reason, o.Metrics = task.Error, "exit code 1", nil
	}
	return &o
}

func ranked(r *core.Record) { r.Objective = metric.Objective{Metric: "accuracy", Maximize: true} }

var repeatCells = regexp.MustCompile(`(?s)<tr[^>]*>\s*(?:<td[^>]*>[0-9]*</td>)?\s*<th scope="row".*?</tr>`)

// lines returns the rows of the last table of a page, as text.
func lines(p page) (all []string) {
	_, table, _ := strings.Cut(p.text, `<table class="tasks">`)
	for _, row := range repeatCells.FindAllString(table, -1) {
		var cells []string
		for _, c := range regexp.MustCompile(`(?s)<t[hd][^>]*>(.*?)</t[hd]>`).FindAllStringSubmatch(
			row, -1) {
			cells = append(cells, regexp.MustCompile(`<[^>]*>`).ReplaceAllString(c[1], ""))
		}
		all = append(all, strings.Join(cells, "|"))
	}
	return all
}

// A sweep of one point that is repeated has one group.
func TestGroupOfOnePoint(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", "gpu1", 2, scores)
	id := s.submit("lr: 0.1\nseed: [1, 2, 3]\n---\nrepeat: seed\n", ranked)
	s.becomes(id, "succeeded", 3)
	got := lines(s.enter(monitor.Viewer).get("/sweeps/" + id))
	if want := []string{"3|0.51|0.01|[0.485159, 0.534841]|"}; !slices.Equal(got, want) {
		t.Errorf("its page has %q, want %q", got, want)
	}
}

// Where more metrics were reported than are summarized, the page of a sweep that repeats its points
// has single tasks.
func TestTooManyMetricsForGroups(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", "gpu1", 2, func(id string, a task.Attempt) *task.Outcome {
		o := scores(id, a)
		for n := range 17 {
			o.Metrics = append(o.Metrics, metric.FinalValue{Name: fmt.Sprintf("m%d", n), Value: 1})
		}
		return o
	})
	id := s.submit("lr: 0.1\nseed: [1, 2, 3]\n---\nrepeat: seed\n",
		func(r *core.Record) { r.Objective = metric.Objective{} })
	s.becomes(id, "succeeded", 3)
	p := s.enter(monitor.Viewer).get("/sweeps/" + id)
	if got := lines(p); len(got) != 3 {
		t.Errorf("it lists %q", got)
	}
	if want := "Tasks are not grouped: 18 metrics are more than 16"; !strings.Contains(p.text,
		want) {
		t.Errorf("it does not say %q", want)
	}
}

// The page of a sweep that repeats its points has their means, and single tasks behind a link.
func TestGroupsOfASweep(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", "gpu1", 2, scores)
	id := s.submit("lr: [0.1, 0.2, 0.3]\nseed: [1, 2, 3]\nname: <b>\n---\nrepeat: seed\n", ranked)
	s.becomes(id, "succeeded", 8)
	s.becomes(id, "failed", 1)
	v := s.enter(monitor.Viewer)
	p := v.get("/sweeps/" + id)
	best, failed := "0.3|3|0.71|0.01|[0.685159, 0.734841]|",
		"0.2|2 of 3|0.61|0.0141|[0.482938, 0.737062]|train-1/4 failed"
	worst := "0.1|3|0.51|0.01|[0.485159, 0.534841]|"
	if got := lines(p); !slices.Equal(got, []string{best, failed, worst}) {
		t.Errorf("%q", got)
	}
	has(t, p, ">Best single task: accuracy ", "Means by lr",
		`aria-current="true">means</a>`, `<input type="hidden" name="group_by" value="lr">`)
	for path, want := range map[string][]string{
		"?sort=-lr":        {best, failed, worst},
		"?sort=accuracy.n": {failed, worst, best},
		"?where=seed%3C3&group_by=lr": {"0.3|2|0.705|0.00707|[0.641469, 0.768531]|",
			"0.2|1 of 2|0.6|-|-|train-1/4 failed", "0.1|2|0.505|0.00707|[0.441469, 0.568531]|"},
		"?group_by=host": {
			"gpu1|8 of 9|0.61|0.093|[0.532213, 0.687787]|train-1/4 failed"},
		"?size=2":                            {best, failed},
		"?size=2&after=2":                    {worst},
		"?group_by=lr&where=accuracy+%3E+10": nil,
	} {
		if got := lines(v.get("/sweeps/" + id + path)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	for path, want := range map[string]string{
		"?group_by=none":          "[8 7 6 5 3 2 1 0 4]",
		"?state=failed":           "[4]",
		"?where=index%3D5":        "[5]",
		"?where=lr+%3D+%270.2%27": "[5 3 4]",
	} {
		if got := rows(v.get("/sweeps/" + id + path)); fmt.Sprint(got) != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	behind := "/sweeps/train-1?" +
		url.Values{"group_by": {"none"}, "where": {"lr = '0.2'"}}.Encode()
	if !strings.Contains(html.UnescapeString(p.text), `href="`+behind+`"`) {
		t.Errorf("no link to %s", behind)
	}
	has(t, p, "?group_by=none&amp;state=failed")
	if got := rows(v.get(behind)); fmt.Sprint(got) != "[5 3 4]" {
		t.Errorf("behind a group: %s", got)
	}
	has(t, v.get("/sweeps/"+id+"?group_by=lrr"),
		"by: there is no column &#34;lrr&#34;; did you mean lr?", "No results: fix the error above.")
	has(t, v.get("/sweeps/"+id+"?sort=lrr"),
		"sort: there is no column &#34;lrr&#34; among the groups; did you mean lr?")
	has(t, v.get("/sweeps/"+id+"?where=lr%3D&group_by=lr"), `id="where-wrong"`)
}

// Nothing is grouped by default where nothing is repeated.
func TestASweepWithoutRepeatsHasTasks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", "gpu1", 2, scores)
	id := s.submit("lr: [0.1, 0.2, 0.3]\n", ranked)
	s.becomes(id, "succeeded", 3)
	v := s.enter(monitor.Viewer)
	p := v.get("/sweeps/" + id)
	if got := rows(p); fmt.Sprint(got) != "[2 1 0]" {
		t.Errorf("%s", got)
	}
	lacks(t, p, "means", "group_by")
	p = v.get("/sweeps/" + id + "?group_by=host")
	has(t, p, `>single tasks</a>`, "gpu1")
}
