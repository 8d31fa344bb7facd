package monitor_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/monitor"
	"mlframework/sweep/task"
)

// has fails the test where a page lacks something.
func has(t *testing.T, p page, all ...string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(p.text, want) {
			t.Errorf("%d: no %q in\n%s", p.status, want, p.text)
		}
	}
}

func lacks(t *testing.T, p page, all ...string) {
	t.Helper()
	for _, bad := range all {
		if strings.Contains(p.text, bad) {
			t.Errorf("%d: %q in\n%s", p.status, bad, p.text)
		}
	}
}

var (
	firsts = regexp.MustCompile(`(?s)<tr[^>]*>\s*(?:<td[^>]*>[0-9]*</td>\s*)?<th scope="row"[^>]*>(.*?)</th>`)
	tags   = regexp.MustCompile(`<[^>]*>`)
	hrefs  = regexp.MustCompile(`<a href="([^"]*)"[^>]*rel="(prev|next)"`)
)

// rows returns the first cells of a page's table.
func rows(p page) (all []string) {
	body := max(0, strings.LastIndex(p.text, "<tbody>")) // failures stand before the tasks
	for _, m := range firsts.FindAllStringSubmatch(p.text[body:], -1) {
		all = append(all, strings.TrimSpace(tags.ReplaceAllString(m[1], "")))
	}
	return all
}

// link returns where a page's pager leads; "": nowhere.
func (s *site) link(p page, rel string) string {
	for _, m := range hrefs.FindAllStringSubmatch(p.text, -1) {
		if m[2] == rel {
			return strings.TrimPrefix(strings.ReplaceAll(m[1], "&amp;", "&"), s.prefix())
		}
	}
	return ""
}

func TestSweepsPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.enter(monitor.Viewer)
	has(t, v.get("/sweeps"), "There is no sweep yet", `aria-current="page">Sweeps`)
	s.hire("w1", "gpu1", 2, well)
	id := s.submit("lr: [0.1, 0.2]\nbatchsize: [100, 500]\n")
	s.becomes(id, "succeeded", 4)
	s.until("the page has it", func() bool {
		return strings.Contains(v.get("/sweeps").text, "4 of 4")
	})
	has(t, v.get("/sweeps"), `href="/sweeps/train-1"`, "finished", "100 %", "4 succeeded",
		`/sweeps/train-1?state=succeeded`, "4fd2c17a90be<", `title="/home/ann/digits">digits<`,
		"1–1 of 1")
}

func TestSweepsAreInPages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for range 53 {
		s.submit("i: 1\n")
	}
	v := s.enter(monitor.Viewer)
	first := v.get("/sweeps")
	if got := rows(first); len(got) != 50 || got[0] != "train-53" || got[49] != "train-4" {
		t.Errorf("%q", got)
	}
	second := v.get(s.link(first, "next"))
	if got := rows(second); fmt.Sprint(got) != "[train-3 train-2 train-1]" ||
		s.link(second, "next") != "" {
		t.Errorf("%q", got)
	}
	for _, page := range []string{"99", "-1", "x"} {
		if p := v.get("/sweeps?page=" + page); p.status != 200 || len(rows(p)) == 0 {
			t.Errorf("page %s: %d", page, p.status)
		}
	}
}

func TestTasksOfASweep(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", "gpu1", 4, func(id string, a task.Attempt) *task.Outcome {
		if a.Index == 7 {
			return badly(id, a)
		}
		return well(id, a)
	})
	id := s.submit("i: !interval [0, 250]\n")
	s.becomes(id, "succeeded", 249)
	v := s.enter(monitor.Viewer)
	at := "/sweeps/" + id
	all := v.get(at + "?sort=index")
	has(t, all, "<h1>train-1</h1>", ">i<", ">accuracy<", "gpu1", "1.2s",
		`href="/sweeps/train-1?sort=started"`, `failed <b>1</b>`, "As of", "1–100 of 250 tasks</span>")
	if got := rows(all); len(got) != 100 || got[99] != "99" {
		t.Errorf("%q", got)
	}
	second := v.get(s.link(all, "next"))
	third := v.get(s.link(second, "next"))
	if got := rows(third); len(got) != 50 || got[0] != "200" || got[49] != "249" ||
		s.link(third, "next") != "" {
		t.Errorf("%q", got)
	}
	if back := v.get(s.link(third, "prev")); rows(back)[0] != "100" ||
		rows(v.get(s.link(back, "prev")))[0] != "0" {
		t.Errorf("back from the third page: %q", rows(back)[0])
	}
	for query, want := range map[string]string{
		"":                                    "[249 248 247]",
		"where=i%3C3":                         "[2 1 0]",
		"where=i%3C3&sort=index":              "[0 1 2]",
		"sort=-accuracy&where=i%3C3":          "[2 1 0]",
		"sort=-metrics.accuracy&where=i%3E=5": "[249 248 247]",
		"state=failed":                        "[7]",
		"where=exit_code%3D3":                 "[7]",
		"where=accuracy%3E24.85":              "[249]",
	} {
		p := v.get(at + "?" + query)
		if got := rows(p); fmt.Sprint(got[:min(3, len(got))]) != want {
			t.Errorf("%s: %q", query, got)
		}
	}
	has(t, v.get(at), `?sort=metrics.accuracy`, `aria-sort="descending"`,
		"1–100 of 250 tasks, best first", `<b title="">gpu1</b>`)
	has(t, v.get(at+"?sort=-accuracy"), `?sort=metrics.accuracy`, `aria-sort="descending"`)
	has(t, v.get(at+"?sort=accuracy"), `href="/sweeps/train-1"`, `aria-sort="ascending"`)
	has(t, v.get(at+"?sort=-metrics.accuracy&size=5"), `aria-sort="descending"`,
		`sort=metrics.accuracy`, `name="size" value="5"`)
	has(t, v.get(at+"?state=failed"), "exit code 3", `aria-current="true">`,
		"1–1 of 1 matching task (250 in all)")
	has(t, v.get(at+"?where=i%3C8"), `all <b>8</b>`, `failed <b>1</b>`, `succeeded <b>7</b>`,
		"1–8 of 8 matching tasks (250 in all), best first")
	has(t, v.get(at+"?where=i%3C8&state=succeeded"), "1–7 of 7 matching tasks")
	has(t, v.get(at+"?where=i%3E900"), "No task matches i&gt;900.", "<span role=\"status\">No task matches.</span>")
	if p := v.get("/sweeps/newest"); p.status != 200 {
		t.Errorf("newest: %d", p.status)
	}
	if p := v.get("/sweeps/none-1"); p.status != 404 {
		t.Errorf("unknown: %d %s", p.status, p.text)
	}
}

func TestAFilterErrorPointsAtThePlace(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit("lr: [0.1, 0.2]\n")
	v := s.enter(monitor.Viewer)
	for where, want := range map[string]string{
		"lr<0.2 and acuracy>3": `lr&lt;0.2 and <mark>acuracy</mark>&gt;3`,
		"lr<":                  `lr&lt;<mark></mark>`,
		"(lr<1":                `<mark>(</mark>lr&lt;1`,
		"größe=<b>":            `<mark>größe</mark>=&lt;b&gt;`,
	} {
		p := v.get("/sweeps/" + id + "?" + url.Values{"where": {where}}.Encode())
		has(t, p, `<code class="place">`+want, `aria-invalid="true"`, "column ",
			"The filter cannot be read")
		if p.status != http.StatusOK {
			t.Errorf("%s: %d", where, p.status)
		}
	}
	has(t, v.get("/tasks?where=lr%3C"), `lr&lt;<mark></mark>`)
	has(t, v.get("/sweeps/"+id+"?sort=banana"), `sort: there is no column &#34;banana&#34;`)
	has(t, v.get("/sweeps/"+id+"?after=x"), `after: x is not the next of a page`)
}

func TestTasksOfAllSweeps(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", "gpu1", 4, well)
	other := func(r *core.Record) { r.Recipe.Definition = "evaluate" }
	for n := range 3 {
		id := s.submit("i: !interval [0, 4]\n")
		s.becomes(id, "succeeded", 4)
		if n == 1 {
			s.becomes(s.submit("depth: [1, 2]\n", other), "succeeded", 2)
		}
	}
	v := s.enter(monitor.Viewer)
	has(t, v.get("/tasks"), "i=0", "accuracy=0.1", `href="/sweeps/train-3/tasks/0"`)
	want := "[train-3/0 train-3/1 train-3/2 train-3/3 evaluate-1/0 evaluate-1/1 train-2/0 " +
		"train-2/1 train-2/2 train-2/3 train-1/0 train-1/1 train-1/2 train-1/3]"
	var got []string
	path := "/tasks?size=5"
	for pages := 0; path != "" && pages < 9; pages++ {
		p := v.get(path)
		got = append(got, rows(p)...)
		path = s.link(p, "next")
	}
	if fmt.Sprint(got) != want {
		t.Errorf("%q", got)
	}
	for query, want := range map[string]string{
		"where=depth%3D2":                       "[evaluate-1/1]",
		"where=i%3D3+and+accuracy%3E0":          "[train-3/3 train-2/3 train-1/3]",
		"sort=-metrics.accuracy&size=2":         "[train-3/3 train-2/3]",
		"sort=-metrics.accuracy&size=2&after=2": "[train-1/3 train-3/2]",
		"state=failed":                          "[]",
	} {
		if got := rows(v.get("/tasks?" + query)); fmt.Sprint(got) != want {
			t.Errorf("%s: %q", query, got)
		}
	}
	has(t, v.get("/tasks?where=depth%3D2"), "3 of 4 sweeps have no such column")
	has(t, v.get("/tasks?where=banana%3D2"), "<mark>banana</mark>")
}

// A list of the tasks of all sweeps is one question to the master, however many sweeps there are.
func TestTasksOfAllSweepsAreOneQuestion(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", "gpu1", 4, well)
	const sweeps = 60
	for range sweeps {
		s.submit("i: [0, 1]\n")
	}
	s.becomes("train-60", "succeeded", 2)
	s.becomes("train-1", "succeeded", 2)
	v := s.enter(monitor.Viewer)
	for query, want := range map[string]string{
		"where=sweep%3Dtrain-1":                  "[train-1/0 train-1/1]",
		"sort=index&where=index%3D1&size=1":      "[train-60/1]",
		"sort=started&where=sweep%3Dtrain-1":     "[train-1/0 train-1/1]",
		"sort=sweep&size=1":                      "[train-1/0]",
		"where=sweep%3Dtrain-1+and+accuracy%3E0": "[train-1/1]",
	} {
		p := v.get("/tasks?" + query)
		if got := rows(p); fmt.Sprint(got) != want {
			t.Errorf("%s: %q", query, got)
		}
		for _, note := range []string{"looked through", "Sorted are"} {
			if strings.Contains(p.text, note) {
				t.Errorf("%s: the page says that it does not have all", query)
			}
		}
	}
	if asked := s.asked.String(); strings.Contains(asked, "/sweeps/train-") {
		t.Errorf("single sweeps were asked for:\n%s", asked)
	}
}

func TestWorkersPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.enter(monitor.Viewer)
	has(t, v.get("/workers"), "No worker has reported yet")
	s.hire("w1", "gpu1", 2, hold)
	s.hire("w2", "gpu2", 4, well)
	s.until("both are ready", func() bool {
		return strings.Count(v.get("/workers").text, "state-ready") == 2
	})
	id := s.submit("i: !interval [0, 3]\n")
	s.until("something runs", func() bool {
		return strings.Contains(v.get("/workers").text, "/sweeps/"+id+"/tasks/")
	})
	has(t, v.get("/workers"), "gpu1", "gpu2", "CPU 42 % of 8 cores", "40 GiB of 64 GiB free",
		"300 GiB of 1.0 TiB free", "2 of 2 up", " of 6 slots busy", "slot 0, attempt 1",
		`<th scope="row">slot 0</th>`)
	lacks(t, v.get("/workers"), "/drain", "Workers by state", "<details")
	_, err := s.master.Drain(t.Context(), "w2", false)
	s.must(err)
	s.until("it drains", func() bool {
		return strings.Contains(v.get("/workers").text, "state-draining")
	})
	p := v.get("/workers")
	if got := cards(p); fmt.Sprint(got) != "[w2 w1]" {
		t.Errorf("the one that takes nothing is not the first: %q", got)
	}
	has(t, p, `href="/workers?state=draining"`, "draining <b>1</b>")
	if got := cards(v.get("/workers?state=draining")); fmt.Sprint(got) != "[w2]" {
		t.Errorf("draining are %q", got)
	}
	has(t, v.get("/workers?state=away"), "No worker is in this state.")
}

var cardNames = regexp.MustCompile(`<h2>([^<]*)</h2>`)

// cards returns the names of the workers on their page.
func cards(p page) (names []string) {
	for _, m := range cardNames.FindAllStringSubmatch(p.text, -1) {
		names = append(names, m[1])
	}
	return names
}

// What a running task has and measures stands beside it; many workers are folded.
func TestWhatRunsOnManyWorkers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", "gpu1", 2, hold)
	id := s.submit("lr: [0.1, 0.2]\nfixed: 7\n", func(r *core.Record) {
		r.Recipe.Metrics = []metric.Rule{{Name: "accuracy", Pattern: "x(y)"}}
	})
	s.becomes(id, "running", 2)
	s.reports("w1", id, 1, .625)
	v := s.enter(monitor.Viewer)
	s.until("its values are there", func() bool {
		return strings.Contains(v.get("/workers").text, id+"/1</a> <b>lr 0.2</b> accuracy 0.625 ")
	})
	lacks(t, v.get("/workers"), "fixed 7")
	for n := range 12 {
		s.hire(fmt.Sprintf("x%02d", n), "host", 1, hold)
	}
	s.until("all are there", func() bool { return len(cards(v.get("/workers"))) == 13 })
	_, err := s.master.Drain(t.Context(), "x07", false)
	s.must(err)
	s.until("all but the one that takes nothing are folded", func() bool {
		p := v.get("/workers")
		return cards(p)[0] == "x07" && strings.Count(p.text, "<details><summary>") == 12
	})
}

// hostile is a value of everything that could break out of something.
const hostile = "<script>alert(1)</script>\"'><img src=x " +
	"onerror=alert(2)>&\x1b[31m\u202e{{.}}`${1}`"

func TestWhatComesFromOutsideIsEscaped(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	end := s.hire(hostile, hostile, 2, hold)
	id := s.submit("\"p<b>\": ['"+strings.ReplaceAll("</td><script>x</script>", "'",
		"''")+"', 2]\n", func(r *core.Record) {
		r.Project, r.Recipe.Metrics = hostile, nil
	})
	s.becomes(id, "running", 2)
	v := s.enter(monitor.Viewer)
	var running page
	s.until("it runs", func() bool {
		running = v.get("/workers")
		return strings.Contains(running.text, id+"/0")
	})
	code := 1
	for n := range int64(2) {
		end(id, n, &task.Outcome{Class: task.Error, ExitCode: &code, Reason: hostile,
			Duration: time.Second, Metrics: metric.Final{{Name: "<i>m", Value: 1}}})
	}
	s.becomes(id, "failed", 2)
	pages := []page{running}
	for _, path := range []string{"/sweeps", "/sweeps/" + id, "/", "/failures", "/tasks", "/workers",
		"/sweeps/" + id + "?where=" + url.QueryEscape(hostile),
		"/sweeps/" + id + "?sort=" + url.QueryEscape(hostile),
		"/tasks?where=" + url.QueryEscape("a="+hostile), "/sweeps/" + url.PathEscape(hostile),
		"/" + url.PathEscape(hostile)} {
		pages = append(pages, v.get(path))
	}
	pages = append(pages,
		s.visitor().get("/login?code="+url.QueryEscape(hostile)+"&next="+url.QueryEscape(
			"/"+hostile)))
	typed := regexp.MustCompile(`value="[^"<>]*"`) // what was typed is typed again
	for _, p := range pages {
		p.text = typed.ReplaceAllString(p.text, "")
		lacks(t, p, "<script>", "<img", "onerror=alert(2)>\"", "\x1b", "\u202e", "<b>\"", "<i>m")
	}
	has(t, pages[2], `\x1b[31m\u202e`, "&lt;script&gt;alert(1)&lt;/script&gt;", "&lt;i&gt;m")
}

func TestTheMasterIsAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit("i: 1\n")
	v := s.enter(monitor.Viewer)
	s.end()
	s.until("pages say so", func() bool {
		return v.get("/sweeps").status == http.StatusServiceUnavailable
	})
	for _, path := range []string{"/", "/sweeps", "/sweeps/" + id, "/sweeps/" + id + "/tasks/0",
		"/tasks", "/failures", "/workers",
		"/broker", "/audit"} {
		p := v.get(path)
		if p.status != http.StatusServiceUnavailable || p.header.Get("Retry-After") == "" {
			t.Errorf("%s: %d", path, p.status)
		}
		has(t, p, "The master is away", "there is no such file", "start the master",
			`data-live="/live`+path+`"`, "data-reload")
	}
	if p := v.get("/readyz"); p.status != http.StatusServiceUnavailable ||
		p.text != "the master does not answer\n" {
		t.Errorf("%d %q", p.status, p.text)
	}
	if p := v.get("/healthz"); p.status != 200 || p.text != "up\n" {
		t.Errorf("%d %q", p.status, p.text)
	}
	s.start()
	s.until("it is back", func() bool {
		return v.get("/sweeps").status == 200 && v.get("/readyz").status == 200
	})
	has(t, v.get("/sweeps/"+id), "pending")
}

func TestAPrefix(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(o *monitor.Options) { o.Prefix = "/lab/monitor/" })
	id := s.submit("i: !interval [0, 3]\n")
	v := s.enter(monitor.Operator)
	for _, path := range []string{"/", "/sweeps", "/sweeps/" + id, "/sweeps/" + id + "/tasks/1",
		"/tasks?size=1", "/failures", "/workers",
		"/broker", "/audit"} {
		p := v.get(path)
		if p.status != 200 {
			t.Errorf("%s: %d", path, p.status)
		}
		links := regexp.MustCompile(`(?:href|src|action|data-live)="([^"#][^"]*)"`)
		for _, m := range links.FindAllStringSubmatch(p.text, -1) {
			if !strings.HasPrefix(m[1], "/lab/monitor/") {
				t.Errorf("%s leads to %s", path, m[1])
			}
		}
	}
	if p := s.visitor().get("/sweeps/" + id +
		"?size=2"); p.header.Get(
		"Location") != "/lab/monitor/login?next=%2Fsweeps%2F"+id+"%3Fsize%3D2" {
		t.Errorf("%v", p.header)
	}
}
