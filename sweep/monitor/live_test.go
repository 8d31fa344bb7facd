package monitor_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/monitor"
	"mlframework/sweep/task"
)

// changeEvent is an event.
type changeEvent struct {
	Version int64
	Away    string
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
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
			var e changeEvent
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok &&
				json.Unmarshal([]byte(data), &e) == nil {
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

func newer(than changeEvent) func(changeEvent) bool {
	return func(e changeEvent) bool { return e.Version > than.Version && e.Away == "" }
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
	first := func(changeEvent) bool { return true }
	at, oneAt := s.wait(sweeps, "a beginning", first), s.wait(one, "a beginning", first)
	s.wait(workers, "heartbeats", newer(s.wait(workers, "a beginning", first)))
	end(id, 0, well(id, task.Attempt{}))
	s.wait(sweeps, "the sweep changed", newer(at))
	s.wait(one, "its task ended", newer(oneAt))
	s.until("the part has it", func() bool {
		for {
			select {
			case e := <-one:
				oneAt = e
				continue
			default:
			}
			break
		}
		return strings.Contains(v.get("/part/sweeps/"+id).text, "succeeded <b>1</b>")
	})
	p := v.get("/part/sweeps/" + id)
	if strings.Contains(p.text, "<html") {
		t.Errorf("%v %s", p.header, p.text)
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
	at := s.wait(events, "a beginning", func(changeEvent) bool { return true })
	for range 4 { // the stream of one that has ended tells no more than how it stands
		id := s.submit("i: 1\n")
		s.becomes(id, "succeeded", 1)
		at = s.wait(events, "there is "+id, newer(at))
	}
}

func TestReadersAreToldThatTheMasterIsAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit("i: 1\n")
	v := s.enter(monitor.Viewer)
	events, _ := v.follow("/live/sweeps/" + id)
	s.end()
	e := s.wait(events, "it is away", func(e changeEvent) bool {
		return strings.HasPrefix(e.Away, "The master cannot be reached: ")
	})
	s.start()
	at := s.wait(events, "it is back", newer(e))
	_, err := s.master.Cancel(t.Context(), id)
	s.must(err)
	s.wait(events, "what happened after it came back", newer(at))
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
		v.get("/part/sweeps")
	}
	most := int(time.Since(from).Seconds()) + 2
	if n := strings.Count(s.asked.String(), "/health "); n < 1 || n > most {
		t.Errorf("asked %d times for 40 pages; want at most %d", n, most)
	}
}

// A part of a newer version has warnings that are asked for anew, also those that another page got
// a moment ago.
func TestWarningsAreAsNewAsThePart(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.still()
	v := s.enter(monitor.Viewer)
	v.get("/part/sweeps")
	asked := strings.Count(s.asked.String(), "/health ")
	v.renew("/part/sweeps", 1000000)
	if strings.Count(s.asked.String(), "/health ") == asked {
		t.Error("the warnings are those of the older part")
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
		s.wait(tab, "a beginning", func(changeEvent) bool { return true })
	}
	before := strings.Count(s.asked.String(), "\n")
	from := time.Now()
	at := changeEvent{}
	for range 3 {
		_, err := s.master.Pause(t.Context(), id, false)
		s.must(err)
		at = s.wait(tabs[0], "paused", newer(at))
		_, err = s.master.Resume(t.Context(), id, api.ResumeRequest{}, "")
		s.must(err)
		at = s.wait(tabs[0], "resumed", newer(at))
	}
	for _, tab := range tabs[1:] {
		s.wait(tab, "the newest", func(e changeEvent) bool { return e.Version >= at.Version })
	}
	took := time.Since(from).Seconds()
	asked := strings.Count(s.asked.String(), "\n") - before
	// its own six, and two looks and perhaps a stream a second
	if most := 2*6 + 3*int(took+2); asked > most {
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
		if p := v.get("/part/sweeps/" + id + "?sort=i"); p.status != http.StatusOK {
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
	s.wait(events, "a beginning", func(changeEvent) bool { return true })
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
	s.wait(events, "a beginning", func(changeEvent) bool { return true })
	stop()
	end()
	s.until("a place is free", func() bool { return s.monitor.Readers() == monitor.MostTabs-1 })
	events, _ = v.follow("/live/sweeps")
	s.wait(events, "a beginning", func(changeEvent) bool { return true })
	for range monitor.MostReaders/monitor.MostTabs - 1 {
		next := s.enter(monitor.Viewer)
		for range monitor.MostTabs {
			next.follow("/live/sweeps")
		}
	}
	refused(other)
}
