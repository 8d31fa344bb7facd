package monitor_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/monitor"
	"mlframework/sweep/task"
)

// reports lets a running task of a worker report the accuracy that it has now.
func (s *site) reports(worker, sweep string, index int64, accuracy float64) {
	s.t.Helper()
	s.must(s.queue.Worker(worker).Emit(context.Background(),
		task.Event{Version: task.Version, Kind: task.SamplesEvent, Worker: worker,
			Sweep: sweep, Index: index, Attempt: 1, Time: time.Now(),
			Newest: metric.Stored{{Name: "accuracy", Value: accuracy}}}))
}

// firstEnds returns a sweep of two tasks: the first has ended with an accuracy of 0.9, the second
// runs.
func firstEnds(s *site) (id string, end func(index int64, accuracy float64)) {
	finish := s.hire("w1", "gpu1", 2, hold)
	id = s.submit("i: !interval [0, 2]\n",
		func(r *core.Record) {
			r.Recipe.Metrics = []metric.Rule{{Name: "accuracy", Pattern: "x(y)"}}
		})
	s.becomes(id, "running", 2)
	end = func(index int64, accuracy float64) {
		o := well(id, task.Attempt{})
		o.Metrics[0].Value = accuracy
		finish(id, index, o)
	}
	end(0, .9)
	s.becomes(id, "succeeded", 1)
	return id, end
}

// A sweep's page has the newest value of a running task and the best task so far, and readers are
// told of every newer one.
func TestASweepsNewestMetrics(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id, end := firstEnds(s)
	v := s.enter(monitor.Viewer)
	events, _ := v.follow("/live/sweeps/" + id)
	s.wait(events, "a beginning", first)
	shown := func(texts ...string) {
		t.Helper()
		s.wait(events, strings.Join(texts, ", "), shows(texts...))
	}
	best := func(value, index string) string {
		return `Best: accuracy <span class="best" title="maximize accuracy: ` + value + `">` + value +
			`</span> <a href="/sweeps/train-1/tasks/` + index + `" data-key="best">train-1/` +
			index + `</a>`
	}
	s.reports("w1", id, 1, .5)
	shown(best("0.9", "0"), `title="0.5"><b>0.5</b></td>`)
	s.reports("w1", id, 1, .75)
	shown(best("0.9", "0"), `title="0.75"><b>0.75</b></td>`)
	end(1, .95)
	shown(best("0.95", "1"), `title="0.95"><b>0.95</b></td>`)
}

// The same in a browser, which is not loaded again.
func TestABrowserSeesNewestMetrics(t *testing.T) {
	s := newSite(t)
	id, end := firstEnds(s)
	b := s.open()
	b.enter()
	b.visit("/sweeps/" + id)
	loaded := js[float64](b, "window.loaded = Math.random()")
	shown := func(text string) {
		t.Helper()
		since := time.Now()
		b.sees(text)
		t.Logf("%q was shown after %v", text, time.Since(since).Round(time.Millisecond))
	}
	shown("accuracy 0.9 train-1/0")
	s.reports("w1", id, 1, .0625)
	shown("0.0625")
	s.reports("w1", id, 1, .125)
	shown("0.125")
	b.keep("newest")
	end(1, .95)
	shown("accuracy 0.95 train-1/1")
	if js[float64](b, "window.loaded") != loaded {
		t.Error("the page was loaded again")
	}
}

// While the pointer is on the table its rows keep their places, until somebody asks for the new ones.
func TestABrowserHoldsTheOrder(t *testing.T) {
	s := newSite(t)
	id, end := firstEnds(s)
	b := s.open()
	b.enter()
	b.visit("/sweeps/" + id)
	first := func() string {
		return js[string](b, `document.querySelector(".tasks tbody tr").dataset.key`)
	}
	b.sees("accuracy 0.9 train-1/0")
	at := js[[]float64](b, `((r) => [r.x + 20, r.y + 20])(`+
		`document.querySelector(".tasks tbody tr").getBoundingClientRect())`)
	b.run(chromedp.MouseEvent(input.MouseMoved, at[0], at[1]))
	s.reports("w1", id, 1, .25)
	b.sees("0.25") // values change where they are
	end(1, .95)
	b.sees("The rows have another order now.")
	if got := first(); got != id+"/0" {
		t.Errorf("the first row is %s", got)
	}
	b.keep("order")
	b.act("[data-show]", "click")
	s.until("the best is first", func() bool { return first() == id+"/1" })
	if strings.Contains(js[string](b, "document.body.innerText"), "another order") {
		t.Error("it still says so")
	}
}
