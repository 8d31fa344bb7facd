package monitor_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/monitor"
	"mlframework/sweep/task"
)

// changeEvent is an event, and what the browser then has of the page.
type changeEvent struct {
	Blocks []struct {
		Name  string
		Lines []any
	}
	Away   string
	Reload bool

	text  string // all blocks
	bytes int    // of the event
}

// apply does what a browser does with an event: has is the HTML of its blocks.
func (e *changeEvent) apply(has map[string]string) {
	for _, b := range e.Blocks {
		old, now := strings.Split(has[b.Name], "\n"), []string{}
		for _, line := range b.Lines {
			switch line := line.(type) {
			case string:
				now = append(now, line)
			case []any:
				from, n := int(line[0].(float64)), int(line[1].(float64))
				now = append(now, old[from:from+n]...)
			}
		}
		has[b.Name] = strings.Join(now, "\n")
	}
	for _, html := range has {
		e.text += html
	}
}

// follow reads a live stream.
func (v *visitor) follow(path string) (events <-chan changeEvent, end func()) {
	v.s.t.Helper()
	ctx, cancel := context.WithCancel(v.s.t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.s.url+path, nil)
	v.s.must(err)
	answer, err := v.http.Do(r)
	v.s.must(err)
	if answer.StatusCode != http.StatusOK ||
		answer.Header.Get("Content-Type") != "text/event-stream" {
		v.s.t.Fatalf("%s: %s", path, answer.Status)
	}
	out := make(chan changeEvent, 1000)
	go func() {
		defer close(out)
		defer answer.Body.Close()
		has := map[string]string{}
		lines := bufio.NewScanner(answer.Body)
		for lines.Buffer(nil, 1<<20); lines.Scan(); {
			var e changeEvent
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok &&
				json.Unmarshal([]byte(data), &e) == nil {
				e.bytes = len(data)
				e.apply(has)
				out <- e
			}
		}
	}()
	v.s.t.Cleanup(cancel)
	return out, cancel
}

// wait takes events until one is as it should be.
func (s *site) wait(events <-chan changeEvent, what string, ok func(changeEvent) bool) changeEvent {
	s.t.Helper()
	late := time.After(limit)
	for {
		select {
		case e, open := <-events:
			if !open {
				s.t.Fatalf("the stream ended before: %s", what)
			}
			if ok(e) {
				return e
			}
		case <-late:
			s.t.Fatalf("not in %v: %s", limit, what)
		}
	}
}

// first is any event.
func first(changeEvent) bool { return true }

// shows is an event after which the browser has all texts.
func shows(texts ...string) func(changeEvent) bool {
	return func(e changeEvent) bool {
		return !slices.ContainsFunc(texts, func(text string) bool {
			return !strings.Contains(e.text, text)
		})
	}
}

func TestReadersAreTold(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	end := s.hire("w1", "gpu1", 4, hold)
	id := s.submit("i: !interval [0, 4]\n")
	s.becomes(id, "running", 4)
	v := s.enter(monitor.Viewer)
	sweeps, _ := v.follow("/live/sweeps")
	one, _ := v.follow("/live/sweeps/" + id)
	workers, _ := v.follow("/live/workers")
	if e := s.wait(one, "a beginning", first); strings.Contains(e.text, "<html") {
		t.Errorf("blocks hold %s", e.text)
	}
	s.wait(workers, "its attempts", shows("4 of 4 slots busy"))
	end(id, 0, well(id, task.Attempt{}))
	s.wait(sweeps, "the sweep changed", shows("1 of 4"))
	s.wait(one, "its task ended", shows("succeeded <b>1</b>"))
	s.wait(workers, "a slot is free", shows("3 of 4 slots busy"))
}

// What a browser has is not sent again: of a page that has just been loaded the time at most, also to
// a browser that comes back, and of a table the rows that changed.
func TestReadersAreSentWhatDiffers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	end := s.hire("w1", "gpu1", 80, hold)
	id := s.submit("i: !interval [0, 80]\n")
	s.becomes(id, "running", 80)
	v := s.enter(monitor.Viewer)
	s.still()
	p := v.get("/sweeps/" + id)
	var have []string
	for _, m := range regexp.MustCompile(`data-block="([a-z]+)" data-hash="([0-9a-f]+)"`).
		FindAllStringSubmatch(p.text, -1) {
		have = append(have, m[1]+"="+m[2])
	}
	path := "/live/sweeps/" + id + "?have=" + url.QueryEscape(strings.Join(have, ","))
	events, leave := v.follow(path)
	if e := s.wait(events, "a beginning", first); len(have) < 5 || len(e.Blocks) > 0 {
		t.Errorf("a browser that has %q is sent %+v", have, e.Blocks)
	}
	leave()
	events, _ = v.follow("/live/sweeps/" + id)
	end(id, 0, well(id, task.Attempt{})) // its metric is a new column
	s.wait(events, "its task ended", shows("succeeded <b>1</b>", `data-key="sort accuracy"`,
		"Best: accuracy"))
	end(id, 1, well(id, task.Attempt{}))
	e := s.wait(events, "another ended", shows("succeeded <b>2</b>"))
	if e.bytes > len(p.text)/10 || len(p.text) < 10000 {
		t.Errorf("of a page of %d bytes, %d were sent as one task of 80 changed", len(p.text),
			e.bytes)
	}
}

// TestReadersOfTheNewest: whoever looks at the newest sweep is told when there is another.
func TestReadersOfTheNewest(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", "gpu1", 4, well)
	s.becomes(s.submit("i: 1\n"), "succeeded", 1)
	v := s.enter(monitor.Viewer)
	events, _ := v.follow("/live/sweeps/newest")
	s.wait(events, "a beginning", first)
	for range 4 { // the stream of one that has ended tells no more than how it stands
		id := s.submit("i: 1\n")
		s.becomes(id, "succeeded", 1)
		s.wait(events, "there is "+id, shows("Tasks of "+id, "succeeded <b>1</b>"))
	}
}

func TestReadersAreToldThatTheMasterIsAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit("i: 1\n")
	v := s.enter(monitor.Viewer)
	events, _ := v.follow("/live/sweeps/" + id)
	s.end()
	s.wait(events, "it is away", func(e changeEvent) bool {
		return strings.HasPrefix(e.Away, "The master cannot be reached: ")
	})
	s.start()
	s.wait(events, "it is back", func(e changeEvent) bool { return e.Away == "" })
	_, err := s.master.Cancel(t.Context(), id)
	s.must(err)
	s.wait(events, "what happened after it came back", shows("cancelled <b>1</b>"))
}

func TestAStreamEndsWithItsSession(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", "gpu1", 1, hold) // its heartbeats change the page
	v := s.enter(monitor.Viewer)
	events, _ := v.follow("/live/workers")
	v.post("/logout", map[string][]string{})
	for late := time.After(limit); ; {
		select {
		case _, open := <-events:
			if !open {
				return
			}
		case <-late:
			t.Fatal("it goes on")
		}
	}
}

// The master is asked for its warnings as often as for its sweeps, and not for every page.
func TestPagesShareTheWarnings(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.enter(monitor.Viewer)
	from := time.Now()
	for range 40 {
		v.get("/sweeps")
	}
	most := int(time.Since(from).Seconds()) + 2
	if n := strings.Count(s.asked.String(), "/health "); n < 1 || n > most {
		t.Errorf("asked %d times for 40 pages; want at most %d", n, most)
	}
}

// What is told of a change has warnings that are asked for anew, also those that another page got a
// moment ago.
func TestWarningsAreAsNewAsTheChange(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.still()
	v := s.enter(monitor.Viewer)
	v.get("/sweeps")
	asked := strings.Count(s.asked.String(), "/health ")
	events, _ := v.follow("/live/sweeps")
	s.wait(events, "a beginning", first)
	if strings.Count(s.asked.String(), "/health ") == asked {
		t.Error("the warnings are those of the older page")
	}
}

// Many tabs cost the master what one costs; one that does not read holds nobody up.
func TestManyTabsCostLikeOne(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", "gpu1", 4, hold)
	id := s.submit("i: !interval [0, 4]\n")
	s.becomes(id, "running", 4)
	v := s.enter(monitor.Viewer)
	var tabs []<-chan changeEvent
	for range 20 {
		events, _ := v.follow("/live/sweeps/" + id)
		tabs = append(tabs, events)
	}
	for _, tab := range tabs {
		s.wait(tab, "a beginning", first)
	}
	before := strings.Count(s.asked.String(), "\n")
	from := time.Now()
	for range 3 {
		_, err := s.master.Pause(t.Context(), id, false)
		s.must(err)
		for _, tab := range tabs {
			s.wait(tab, "paused", shows(`state-paused">paused`))
		}
		_, err = s.master.Resume(t.Context(), id, api.ResumeRequest{}, "")
		s.must(err)
		for _, tab := range tabs {
			s.wait(tab, "resumed", shows(`state-running">running`))
		}
	}
	took := time.Since(from).Seconds()
	asked := strings.Count(s.asked.String(), "\n") - before
	// its own six, and a second two looks, perhaps a stream, and the four questions of the page
	if most := 2*6 + 7*int(took+2); asked > most {
		t.Errorf("%d requests in %.1f s, for 20 tabs; want at most %d:\n%s", asked, took, most,
			s.asked)
	}
	if n := strings.Count(s.asked.String(), "/events"); n > 8 {
		t.Errorf("%d streams of events for one sweep", n)
	}
}

func TestTabsShareAnswers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit("i: !interval [0, 4]\n")
	v := s.enter(monitor.Viewer)
	from := time.Now()
	for range 40 {
		if p := v.get("/sweeps/" + id + "?sort=i"); p.status != http.StatusOK {
			t.Fatal(p.status)
		}
	}
	took := time.Since(from).Seconds()
	if n := strings.Count(s.asked.String(), "/tasks?limit=100&"); n < 1 || n > int(took)+2 {
		t.Errorf("%d questions in %.1f s", n, took)
	}
}

func TestNobodyLooksNothingIsAsked(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.enter(monitor.Viewer)
	events, end := v.follow("/live/sweeps")
	s.wait(events, "a beginning", first)
	end()
	s.until("nobody looks", func() bool { return s.monitor.Topics() == 0 })
}

// One session has a share of the streams, and all together have a bound.
func TestReadersAreBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	refused := func(v *visitor) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/live/sweeps", nil)
		s.must(err)
		answer, err := v.http.Do(r)
		s.must(err)
		defer answer.Body.Close()
		// a stream that is read would not end
		if answer.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("one stream more: %s", answer.Status)
		}
	}
	v := s.enter(monitor.Viewer)
	var end func()
	for range monitor.MostTabs {
		_, end = v.follow("/live/sweeps")
	}
	refused(v)
	other := s.enter(monitor.Viewer)
	events, stop := other.follow("/live/sweeps")
	s.wait(events, "a beginning", first)
	stop()
	end()
	s.until("a place is free", func() bool { return s.monitor.Readers() == monitor.MostTabs-1 })
	events, _ = v.follow("/live/sweeps")
	s.wait(events, "a beginning", first)
	for range monitor.MostReaders/monitor.MostTabs - 1 {
		next := s.enter(monitor.Viewer)
		for range monitor.MostTabs {
			next.follow("/live/sweeps")
		}
	}
	refused(other)
}
