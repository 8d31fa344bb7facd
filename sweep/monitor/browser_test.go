package monitor_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/monitor"
	"mlframework/sweep/task"
)

// browser is one tab of a real browser, and what it complained about.
type browser struct {
	s   *site
	ctx context.Context

	mu       sync.Mutex
	wrong    []string // what the console says, and requests to other hosts
	expected string   // what the console may say; "": nothing
}

// program finds Chromium; MONITOR_BROWSER names another.
func program() string {
	for _, name := range []string{os.Getenv("MONITOR_BROWSER"), "chromium", "chromium-browser",
		"google-chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	return ""
}

// open starts a browser. MONITOR_SHOTS=DIR keeps pictures of what it saw.
func (s *site) open() *browser {
	s.t.Helper()
	path := program()
	if path == "" {
		s.t.Skip("there is no Chromium (Debian, Ubuntu: apt-get install chromium)")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.WindowSize(1280, 800), chromedp.WSURLReadTimeout(limit))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // it refuses to run as root with one
	}
	alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(alloc)
	ctx, cancel := context.WithTimeout(ctx, 4*limit)
	b := &browser{s: s, ctx: ctx}
	s.t.Cleanup(func() { cancel(); stop(); stopAlloc(); b.check() })
	chromedp.ListenTarget(ctx, b.listen)
	b.run(network.Enable(), log.Enable(), emulation.SetFocusEmulationEnabled(true))
	return b
}

func (b *browser) listen(event any) {
	own := strings.TrimPrefix(strings.TrimSuffix(b.s.url, b.s.prefix()), "http://")
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err != nil || u.Host != own {
			b.complain("a request to " + e.Request.URL)
		}
	case *log.EventEntryAdded:
		b.complain(string(e.Entry.Level) + ": " + e.Entry.Text + " " + e.Entry.URL)
	case *runtime.EventConsoleAPICalled:
		b.complain(fmt.Sprintf("console.%s", e.Type))
	case *runtime.EventExceptionThrown:
		b.complain("exception: " + e.ExceptionDetails.Error())
	}
}

func (b *browser) complain(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.expected == "" || !strings.Contains(what, b.expected) {
		b.wrong = append(b.wrong, what)
	}
}

// expect lets the console say something.
func (b *browser) expect(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = what
}

func (b *browser) check() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.wrong {
		b.s.t.Errorf("the browser says: %s", w)
	}
}

func (b *browser) run(actions ...chromedp.Action) {
	b.s.t.Helper()
	b.s.must(chromedp.Run(b.ctx, actions...))
}

// js returns what an expression gives.
func js[T any](b *browser, expression string) (v T) {
	b.s.t.Helper()
	b.run(chromedp.Evaluate(expression, &v))
	return v
}

// act clicks or focuses what may be replaced at any moment: in one step, as the page is alive.
func (b *browser) act(selector, what string) {
	b.s.t.Helper()
	b.run(chromedp.Evaluate(fmt.Sprintf("document.querySelector(%q).%s()", selector, what), nil))
}

// sees waits until the page has a text that can be seen.
func (b *browser) sees(text string) {
	b.s.t.Helper()
	b.s.until("the page has "+text, func() bool {
		var all string
		return chromedp.Run(b.ctx, chromedp.Evaluate("document.body.innerText", &all)) == nil &&
			strings.Contains(all, text)
	})
}

func (b *browser) visit(path string) {
	b.s.t.Helper()
	b.run(chromedp.Navigate(b.s.url + path))
}

// enter logs in with a link, by its button.
func (b *browser) enter() {
	b.s.t.Helper()
	link, err := monitor.Link(b.s.state(), b.s.url, monitor.Operator, "anna", time.Now())
	b.s.must(err)
	b.run(chromedp.Navigate(link))
	b.s.until("the button has the focus",
		func() bool { return js[bool](b, `document.activeElement.matches("button.main")`) })
	b.run(chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("nav[aria-label=Pages]"))
}

// keep keeps a picture for people.
func (b *browser) keep(name string) {
	b.s.t.Helper()
	folder := os.Getenv("MONITOR_SHOTS")
	if folder == "" {
		return
	}
	var picture []byte
	b.run(chromedp.FullScreenshot(&picture, 100))
	b.s.must(os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o600))
}

// lab returns a site with something to see in every page. What it returns ends an attempt of the
// newest sweep.
func lab(t *testing.T) (s *site, id string, end func(index int64)) {
	s = newSite(t)
	mixed := func(_ string, a task.Attempt) *task.Outcome {
		code := 1
		o := &task.Outcome{Class: task.Success, ExitCode: new(int),
			Duration: time.Duration(a.Index+1) * 17 * time.Second,
			Metrics: metric.Final{{Name: "accuracy", Value: .9 + float64(a.Index)/1000},
				{Name: "loss", Value: 1 / float64(a.Index+2)}}}
		switch a.Index % 9 {
		case 4:
			o = &task.Outcome{Class: task.Error, ExitCode: &code, Reason: "exit code 1",
				Duration: time.Second}
		case 7:
			o = &task.Outcome{Class: task.TimedOut, Reason: "it ran longer than 2h00m",
				Duration: 2 * time.Hour}
		}
		return o
	}
	do := func(id string, a task.Attempt) *task.Outcome {
		if strings.HasPrefix(id, "train") && a.Index >= 40 {
			return nil
		}
		return mixed(id, a)
	}
	finish := s.hireWith(someGPUs(), "gpu1", "gpu1.lab", 4, do)
	s.becomes(s.submit("model: [small, large]\nseed: !interval [0, 6]\n", func(r *core.Record) {
		r.Recipe.Definition = "evaluate"
	}), "pending", 0)
	id = s.submit(
		"lr: [0.1, 0.01, 0.001]\nbatchsize: [100, 500]\noptimizer: [sgd, \"adam with a long "+
			"name\"]\naugment: [true, false]\nseed: !interval [0, 2]\n",
		func(r *core.Record) {
			r.Recipe.Metrics = []metric.Rule{{Name: "accuracy",
				Pattern: "x(y)"}}
		})
	s.until("some run", func() bool {
		view, err := s.master.Sweep(t.Context(), id, false)
		s.must(err)
		return view.Counts["running"] > 0 && view.Counts["succeeded"] > 20
	})
	return s, id, func(index int64) { finish(id, index, well(id, task.Attempt{})) }
}

func TestInABrowser(t *testing.T) {
	s, id, end := lab(t)
	b := s.open()
	b.visit("/sweeps")
	b.sees("Log in")
	b.keep("login")
	b.enter()
	b.visit("/sweeps")
	b.sees(id)
	b.sees("evaluate-1")
	b.keep("sweeps")

	b.act(`a[data-key="`+id+`"]`, "click")
	b.run(chromedp.WaitVisible("table.tasks"))
	b.sees("adam with a long name")
	b.keep("sweep")
	loaded := js[float64](b, "window.loaded = Math.random()")
	before := js[string](b,
		`document.querySelector(".states [data-key='state succeeded'] b").textContent`)
	b.act(`[data-key="sort Duration"]`, "focus")
	end(40)
	s.until("it is told", func() bool {
		return js[string](
			b,
			`document.querySelector(".states [data-key='state succeeded'] b").textContent`,
		) != before
	})
	if js[float64](b, "window.loaded") != loaded {
		t.Error("the page was loaded again")
	}
	if key := js[string](b, "document.activeElement.dataset.key ?? ''"); key != "sort Duration" {
		t.Errorf("the focus went to %q", key)
	}

	b.run(chromedp.SendKeys("#where", "lr<0.1 and acuracy>3"), chromedp.Submit("#where"),
		chromedp.WaitVisible("#where-wrong"))
	if got := js[string](b,
		`document.querySelector("#where-wrong mark").textContent`); got != "acuracy" {
		t.Errorf("it points at %q", got)
	}
	s.until("the cursor is there", func() bool {
		return js[string](b, `((e) => (e.value ?? "").slice(e.selectionStart, e.selectionEnd))`+
			`(document.activeElement)`) == "acuracy"
	})
	b.sees("did you mean accuracy?")
	b.keep("wrong-filter")
	b.run(chromedp.SetValue("#where", "lr<0.1 and state=failed"), chromedp.Submit("#where"),
		chromedp.WaitNotPresent("#where-wrong"))
	s.until("few rows", func() bool { // a new document has none for a moment
		got := js[int](b, `document.querySelectorAll("table.tasks tbody tr").length`)
		return got > 0 && got <= 5
	})
	b.visit("/tasks?sort=-duration")
	b.sees("evaluate-1/")
	b.keep("tasks")
	b.visit("/workers")
	b.sees("of 8 cores")
	b.sees("busy: ben, python (pid 411), 6.0 GB")
	b.keep("workers")
	b.expect("401") // what the page asks for while it logs out may come after the session's end
	b.run(chromedp.Submit("form.leave button"), chromedp.WaitVisible("#token"))
}

// An operator cancels a sweep with two clicks.
func TestActingInABrowser(t *testing.T) {
	s := newSite(t)
	id := s.submit("i: [1, 2, 3]\n")
	b := s.open()
	b.enter()
	b.visit("/sweeps/" + id)
	b.keep("sweep-actions")
	b.run(chromedp.Click(`a.button[href$="/cancel"]`),
		chromedp.WaitVisible("form.actions button"))
	b.sees("Cancel " + id + "?")
	b.sees("3 waiting tasks never run.")
	b.keep("confirm")
	b.run(chromedp.Click("form.actions button"), chromedp.WaitVisible("table.tasks"))
	b.sees("cancelled")
	b.keep("sweep-cancelled")
	b.visit("/sweeps/" + id + "?where=i+%3E+1")
	b.run(chromedp.Click(`a.button[href*="/retry?where="]`),
		chromedp.WaitVisible("form.actions button"))
	b.sees("Run 2 tasks of " + id + " again?")
	b.keep("confirm-filter")
	b.run(chromedp.Click("form.actions button"), chromedp.WaitVisible("table.tasks"))
	b.sees("Cancel these 2")
	b.keep("sweep-filter")
	s.hire("w1", "gpu1", 1, hold)
	s.until("it runs", func() bool { return len(s.worker("w1").Running) > 0 })
	for _, action := range []string{"restart", "slots"} {
		b.visit("/workers/w1/" + action)
		b.keep("confirm-" + action)
	}
	b.run(chromedp.SetValue("#n", "3"), chromedp.Click("form.actions button"),
		chromedp.WaitVisible("ul.workers"))
	b.keep("workers-actions")
	s.until("it is asked for 3 slots", func() bool {
		wanted := s.worker("w1").Wanted
		return wanted != nil && *wanted == 3
	})
}

func TestInADarkAndNarrowBrowser(t *testing.T) {
	s, id, _ := lab(t)
	b := s.open()
	b.enter()
	light := js[string](b, "getComputedStyle(document.body.parentElement).backgroundColor")
	b.run(emulation.SetEmulatedMedia().WithFeatures(
		[]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	if dark := js[string](b,
		"getComputedStyle(document.body.parentElement).backgroundColor"); dark == light {
		t.Errorf("dark and light are both %s", light)
	}
	b.visit("/sweeps/" + id)
	b.keep("sweep-dark")
	b.visit("/workers")
	b.keep("workers-dark")
	wide := s.submit("i: [1, 2]\n", func(r *core.Record) {
		r.Recipe.Definition, r.Recipe.GPUs = "wide", task.GPUs{Count: 2}
	})
	b.visit("/sweeps/" + wide)
	b.sees("waits for 2 GPUs: ")
	b.keep("sweep-waits-dark")
	b.run(chromedp.EmulateViewport(360, 740))
	for _, path := range []string{"/sweeps", "/sweeps/" + id, "/sweeps/" + wide,
		"/sweeps/" + id + "?where=a+very+long+filter+that+is+wrong%3D%3D" + strings.Repeat("x", 80),
		"/tasks", "/workers", "/sweeps/none"} {
		if path == "/sweeps/none" {
			b.expect("404")
		}
		b.visit(path)
		if wide := js[int](b, "document.documentElement.scrollWidth"); wide > 360 {
			t.Errorf("%s is %d wide", path, wide)
		}
		b.keep("narrow" + strings.NewReplacer("/", "-", "?",
			"-").Replace(path[:min(len(path), 24)]))
	}
}

func TestABrowserSeesTheMasterGoAndComeBack(t *testing.T) {
	s, id, _ := lab(t)
	b := s.open()
	b.enter()
	b.sees(id)
	b.expect("503") // the console notes pages that come so
	s.end()
	b.sees("The master cannot be reached")
	b.sees(id)
	b.keep("away")
	s.until("a page that is loaded says so", func() bool { // what it said last counts for a second
		b.visit("/workers")
		return strings.Contains(js[string](b, "document.body.innerText"), "The master is away")
	})
	b.keep("away-page")
	s.start()
	b.sees("1 of 1 up; ")
	if js[bool](b, "!document.getElementById('away').hidden") {
		t.Error("it still says that the master is away")
	}
}

// A real browser resolves the name of the cluster's pages, and comes in.
func TestABrowserComesByTheNameOfTheCluster(t *testing.T) {
	s := newSite(t)
	s.url = strings.Replace(s.url, "127.0.0.1", "lab.localhost", 1)
	b := s.open()
	b.enter()
	b.sees("Sweeps")
	if at := js[string](b, "location.host"); !strings.HasPrefix(at, "lab.localhost:") {
		t.Errorf("the browser is at %s", at)
	}
}

// Pages can be read with the keyboard alone, and what a screen reader needs is there.
func TestByKeyboard(t *testing.T) {
	s, id, _ := lab(t)
	b := s.open()
	b.enter()
	b.visit("/sweeps/" + id)
	tab := func() string {
		b.run(chromedp.KeyEvent(kb.Tab))
		return js[string](b,
			"(document.activeElement.textContent || document.activeElement.id).trim()")
	}
	var seen []string
	// beyond the page's end the browser keeps the key to itself
	for len(seen) < 60 && !slices.Contains(seen, "Duration") {
		seen = append(seen, tab())
	}
	for _, want := range []string{"Skip to the content", "Overview", "Sweeps", "Tasks", "Failures",
		"Workers", "Audit", "Log out",
		"where", "Apply", "accuracy ▼", "Duration"} {
		if !slices.Contains(seen, want) {
			t.Errorf("no way to %q: %q", want, seen)
		}
	}
	if link := js[string](b, `document.querySelector(".effect a").search`); !strings.HasPrefix(link,
		"?where=lr+%3D+") {
		t.Errorf("a value of a parameter leads to %q", link)
	}
	for what, expression := range map[string]string{
		"a table without a caption":  `document.querySelectorAll("table:not(:has(caption))").length`,
		"a column without its scope": `document.querySelectorAll("thead th:not([scope=col])").length`,
		"a row without a header":     `document.querySelectorAll("tbody tr:not(.empty):not(:has(th[scope=row]))").length`,
		"an input without a label":   `[...document.querySelectorAll("input:not([type=hidden])")].filter((e) => !e.labels.length).length`,
		"an id twice":                `[...document.querySelectorAll("[id]")].filter((e, n, all) => all.findIndex((o) => o.id === e.id) !== n).length`,
		// a curve in a drawing leads where a row of the table does
		"a link or button below 24 px": `[...document.querySelectorAll("a, button, summary")].filter((e) => !e.matches(".skip, svg a") && e.checkVisibility()).filter((e) => { const r = e.getBoundingClientRect(); return r.width < 24 || r.height < 24; }).length`,
		"a table without a heading":    `document.querySelectorAll("table:not(:has(h2, h3))").length`,
		"a page without one heading 1": `Math.abs(document.querySelectorAll("h1").length - 1)`,
	} {
		if n := js[int](b, expression); n != 0 {
			t.Errorf("%s: %d", what, n)
		}
	}
}

// What somebody scrolled or is marking in a page stays while the page renews itself, and its rows are
// the elements that they were.
func TestABrowserKeepsItsElements(t *testing.T) {
	s, id, end := lab(t)
	b := s.open()
	b.enter()
	b.run(chromedp.EmulateViewport(390, 740))
	b.visit("/sweeps/" + id)
	has := func(state, n string) {
		t.Helper()
		s.until(n+" "+state, func() bool {
			return js[string](b, `document.querySelector("[data-key='state `+state+
				`'] b")?.textContent`) == n
		})
	}
	has("succeeded", "32")
	b.run(chromedp.Evaluate(`
		row = document.querySelector("table.tasks tbody tr");
		scrolled = document.querySelector(".scroll:has(.tasks)");
		scrolled.scrollLeft = 60;
		scrollTo(0, 400);
		null`, nil))
	end(40)
	has("succeeded", "33")
	if !js[bool](b, `row === document.querySelector("table.tasks tbody tr") && row.isConnected`) {
		t.Error("the first row is another element")
	}
	if left, top := js[float64](b, "scrolled.scrollLeft"), js[float64](b, "scrollY"); left != 60 ||
		top != 400 {
		t.Errorf("scrolled to %g and %g", left, top)
	}
	b.run(chromedp.Evaluate(`getSelection().selectAllChildren(document.querySelector(".states"))`,
		nil))
	end(41)
	s.until("the table has it", func() bool {
		return js[string](b, `document.querySelector("tr[data-key$='/41'] .state").textContent`) ==
			"succeeded"
	})
	if marked := js[string](b, "getSelection().toString()"); !strings.Contains(marked, "succeeded") {
		t.Errorf("marked is %q", marked)
	}
	has("succeeded", "33")
	b.run(chromedp.Evaluate(`getSelection().empty()`, nil))
	has("succeeded", "34")
}
