package monitor_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	chrome "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// traceback is what a program printed that failed.
const traceback = `Traceback (most recent call last):
  File "train.py", line 39, in <module>
    main()
  File "train.py", line 34, in main
    raise FloatingPointError(f"loss is {loss} at epoch {epoch}: lr {a.lr} is too high")
FloatingPointError: loss is inf at epoch 3: lr 0.3 is too high
`

// The output of a running task is followed, and waits while somebody reads above its end.
func TestABrowserFollowsAnOutput(t *testing.T) {
	s := newSite(t)
	id, end := trained(s)
	for n := range 60 {
		s.prints(id, 5, "stdout", fmt.Sprintf("epoch %d/100 loss=%.4f\n", n, 2/float64(n+1)))
	}
	b := s.open()
	b.enter()
	b.visit("/sweeps/" + id + "/tasks/5")
	b.sees("epoch 59/100")
	loaded := js[float64](b, "window.loaded = Math.random()")
	atEnd := func() bool {
		return js[bool](b, `((log) => log.scrollTop > 0 && `+
			`log.scrollTop + log.clientHeight >= log.scrollHeight - 2)`+
			`(document.querySelector(".log"))`)
	}
	s.until("the log is at its end", atEnd)
	s.prints(id, 5, "stdout", "epoch 60/100\n")
	b.sees("epoch 60/100")
	s.until("the log is at its new end", atEnd)
	b.run(chromedp.Evaluate(`document.querySelector(".log").scrollTop = 10`, nil))
	s.prints(id, 5, "stdout", "epoch 61/100\n")
	b.sees("paused while you read")
	if text := js[string](b, "document.querySelector('.log').textContent"); strings.Contains(text,
		"epoch 61/100") || js[int](b, "document.querySelector('.log').scrollTop") != 10 {
		t.Error("the log went on")
	}
	b.run(chromedp.Evaluate(`document.querySelector(".log").scrollTop = 10000`, nil))
	b.sees("epoch 61/100")
	s.until("the log is at its end again", atEnd)
	end()
	b.sees("succeeded")
	if js[float64](b, "window.loaded") != loaded {
		t.Error("the page was loaded again")
	}
}

// The pages of a sweep and of its tasks can be read on a wide and on a narrow screen, in the light
// and in the dark.
func TestPagesInABrowser(t *testing.T) {
	s := newSite(t)
	id, _ := trained(s)
	s.prints(id, 0, "stdout", "epoch 1/10 loss=1.86\nepoch 2/10 loss=1.56\n")
	s.prints(id, 0, "stderr", traceback)
	for n := range 60 {
		s.prints(id, 5, "stdout", fmt.Sprintf("epoch %d/100 loss=%.4f\n", n, 2/float64(n+1)))
	}
	b := s.open()
	b.enter()
	for _, theme := range []string{"light", "dark"} {
		b.run(emulation.SetEmulatedMedia().WithFeatures(
			[]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}))
		for _, width := range []int64{1440, 390} {
			b.run(chromedp.EmulateViewport(width, 900))
			for path, text := range map[string]string{"": "1 failed", "?where=lr%3E0.2": "1–2 of 2 matching", "/tasks/0": "FloatingPointError",
				"/tasks/5": "epoch 59/100", "/tasks/2": "Nothing was printed to stdout."} {
				b.visit("/sweeps/" + id + path)
				b.sees(text)
				name := fmt.Sprintf("%s-%s-%d", notInNames.ReplaceAllString("sweep"+path, "-"), theme,
					width)
				b.keep(name)
				b.looks(name)
			}
		}
	}
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// looks fails the test where a page is wider than the screen, has text below 11 px, or labels in a
// drawing that stand on one another.
func (b *browser) looks(name string) {
	b.s.t.Helper()
	for what, expression := range map[string]string{
		"pixels too wide": `document.documentElement.scrollWidth - innerWidth`,
		"texts below 11 px": `[...document.querySelectorAll("body *")].filter((e) => ` +
			`[...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) && ` +
			`e.checkVisibility() && parseFloat(getComputedStyle(e).fontSize) < 11).length`,
		"labels on one another": `(() => { const all = [...document.querySelectorAll(` +
			`".curve text:not(.infinite)")].map((e) => e.getBoundingClientRect()); ` +
			`return all.filter((a, i) => all.some((b, j) => i < j && a.left < b.right && ` +
			`b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length; })()`,
		"labels cut off": `[...document.querySelectorAll(".curve text")].filter((e) => ` +
			`{ const a = e.getBoundingClientRect(), b = e.closest("svg").getBoundingClientRect(); ` +
			`return a.left < b.left || a.right > b.right || a.bottom > b.bottom; }).length`,
	} {
		if n := js[int](b, expression); n > 0 {
			b.s.t.Errorf("%s: %d %s", name, n, what)
		}
	}
}

// The command of a task is copied with a button.
func TestABrowserCopiesACommand(t *testing.T) {
	s := newSite(t)
	id, _ := trained(s)
	b := s.open()
	b.enter()
	for _, what := range []string{"clipboard-read", "clipboard-write"} {
		b.run(chrome.SetPermission(&chrome.PermissionDescriptor{Name: what},
			chrome.PermissionSettingGranted))
	}
	b.visit("/sweeps/" + id + "/tasks/0")
	b.act("[data-copy]", "click")
	b.sees("Copied")
	text := ""
	b.run(chromedp.Evaluate("navigator.clipboard.readText()", &text,
		func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	if text != "train.py --lr=0.3 --optimizer=sgd" {
		t.Errorf("copied %q", text)
	}
}
