package monitor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// The pages over everything can be read on a wide and on a narrow screen, in the light and in the
// dark.
func TestPagesOverEverythingInABrowser(t *testing.T) {
	s, id, _ := lab(t)
	s.restartWith(connectedRabbit())
	s.hire("gpu2", "gpu2.lab", 2, failing(2))
	s.becomes(s.submit("i: !interval [0, 9]\n", func(r *core.Record) {
		r.Recipe.Definition = "pretrain"
	}), "pending", 0)
	paused := s.submit("i: !interval [0, 9]\n", func(r *core.Record) {
		r.Recipe.Definition, r.Recipe.GPUs = "wide", task.GPUs{Count: 2}
	})
	_, err := s.master.Pause(t.Context(), paused, false)
	s.must(err)
	s.hireWith([]task.GPU{{UUID: "GPU-aa", Index: "0", Name: "NVIDIA RTX A5000", Memory: 24 << 30,
		Used: 15 << 30, Utilization: 94}, {UUID: "GPU-bb", Index: "1", Name: "NVIDIA RTX A5000",
		Memory: 24 << 30, Used: 1 << 30}}, "gpu3", "gpu3.lab", 2, hold)
	vision := s.submit("lr: [0.01, 0.03]\ndepth: 4\n", func(r *core.Record) {
		r.Recipe.Definition = "vision"
		r.Recipe.GPUs = task.GPUs{Count: 1, Name: "A5000"}
		r.Recipe.Metrics = []metric.Rule{{Name: "accuracy", Pattern: "x(y)"}}
	})
	s.becomes(vision, "running", 2)
	s.reports("gpu3", vision, 0, .31)
	_, err = s.master.Drain(t.Context(), "gpu9", false)
	if err == nil {
		t.Fatal("a worker that is not there was drained")
	}
	b := s.open()
	b.visit("/")
	b.enter()
	b.sees("Open sweeps")
	for _, theme := range []string{"light", "dark"} {
		b.run(emulation.SetEmulatedMedia().WithFeatures(
			[]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}))
		for _, width := range []int64{1440, 390} {
			b.run(chromedp.EmulateViewport(width, 900))
			for path, text := range map[string]string{"/": id, "/failures": "exit code 1",
				"/audit": "pause", "/broker": "RabbitMQ",
				"/workers": "3 of 3 up"} {
				b.visit(path)
				b.sees(text)
				name := fmt.Sprintf("%s-%s-%d", strings.Trim("page-"+path[1:], "-"), theme, width)
				b.keep(name)
				b.looks(name)
				b.reads(name)
			}
		}
	}
}

// reads fails the test where who reads a page with the keyboard or by ear lacks something.
func (b *browser) reads(name string) {
	b.s.t.Helper()
	for what, expression := range map[string]string{
		"tables without a caption":     `document.querySelectorAll("table:not(:has(caption))").length`,
		"rows without a header":        `document.querySelectorAll("tbody tr:not(.empty):not(:has(th[scope=row]))").length`,
		"ids twice":                    `[...document.querySelectorAll("[id]")].filter((e, n, all) => all.findIndex((o) => o.id === e.id) !== n).length`,
		"links or buttons below 24 px": `[...document.querySelectorAll("a, button, summary")].filter((e) => !e.matches(".skip") && e.checkVisibility()).filter((e) => { const r = e.getBoundingClientRect(); return r.width < 24 || r.height < 24; }).length`,
		"headings 1 too many or few":   `Math.abs(document.querySelectorAll("h1").length - 1)`,
		"places that cannot be reached": `[...document.querySelectorAll(".scroll")].filter((e) => ` +
			`e.tabIndex !== 0).length`,
	} {
		if n := js[int](b, expression); n > 0 {
			b.s.t.Errorf("%s: %d %s", name, n, what)
		}
	}
}
