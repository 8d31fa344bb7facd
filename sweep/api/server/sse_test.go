package server_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/api"
	"mlframework/sweep/api/server"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

func TestAFollowerSeesASweepToItsEnd(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit(30)
	told, hired := map[int64]string{}, false
	var last api.Update
	s.must(s.client.Follow(t.Context(), id, api.FollowOptions{Detail: api.DetailOutput},
		func(u api.Update) error {
			if !hired {
				hired = true
				s.hire("w1", 2, well)
			}
			for _, r := range u.Rows {
				told[r.Index] = r.State
			}
			last = u
			return nil
		}))
	if !last.Idle() || last.Sweep.State != core.Finished || len(told) != 30 {
		t.Errorf("%+v after %d tasks", last, len(told))
	}
	for index, state := range told {
		if state != "succeeded" {
			t.Errorf("the last that is told of %d is %s", index, state)
		}
	}
	updates := 0
	s.must(s.client.Follow(t.Context(), "", api.FollowOptions{}, func(api.Update) error {
		updates++
		return nil
	}))
	if updates != 1 {
		t.Errorf("%d updates of a sweep that has ended", updates)
	}
}

func TestFollowingEndsWithTheMaster(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit(1)
	closed := false
	err := s.client.Follow(t.Context(), id, api.FollowOptions{}, func(u api.Update) error {
		if closed = u.Closed; !closed {
			go s.end()
		}
		return nil
	})
	if err != nil || !closed {
		t.Errorf("closed: %t, %v", closed, err)
	}
}

func TestAFollowerWhoHasEnough(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit(1)
	enough := errors.New("enough")
	if err := s.client.Follow(t.Context(), id, api.FollowOptions{}, func(api.Update) error {
		return enough
	}); err != enough {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	err := s.client.Follow(ctx, id,
		api.FollowOptions{OnDisconnect: func(err error) bool { t.Error(err); return true }},
		func(api.Update) error { cancel(enough); return nil })
	if err != enough {
		t.Errorf("%v", err)
	}
}

// Whatever happens while the master is away is told when it is back; and what was told before is
// not told again.
func TestFollowingGoesOnWithTheNextMaster(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.hire("w1", 1, hold)
	id := s.submit(6)
	h.ends(h.has(1)[0], well(h.has(1)[0]))
	s.becomes(id, map[string]int64{"succeeded": 1})
	told := map[string]int{}
	var away, back int
	restart := func() { // between two updates: the connection is gone, and so are the feeds
		s.end()
		for _, g := range h.has(3)[1:3] {
			h.ends(g, well(g))
		}
		s.start()
	}
	acted := false
	s.must(s.client.Follow(t.Context(), id, api.FollowOptions{OnDisconnect: func(err error) bool {
		if err != nil {
			away++
		} else {
			back++
		}
		return false
	}}, func(u api.Update) error {
		for _, r := range u.Rows {
			told[r.ID+" "+r.State]++
		}
		switch {
		case !acted && len(h.has(3)) >= 3:
			acted = true
			restart()
		case u.Sweep.Counts["succeeded"] >= 3:
			for _, g := range h.has(len(h.has(3))) {
				h.ends(g, well(g))
			}
		}
		return nil
	}))
	if away != 1 || back != 1 {
		t.Errorf("it was away %d times, and back %d times", away, back)
	}
	for i := range 6 {
		if n := told[fmt.Sprintf("train-1/%d succeeded", i)]; n != 1 {
			t.Errorf("the end of task %d was told %d times", i, n)
		}
	}
}

// A follower that began in the middle of a sweep is not told after a restart of the master how
// tasks ended before it began, and misses nothing that ended since: neither what it was told before
// the restart, nor what ended while the master was away, nor a task that was retried.
func TestARestartDoesNotRepeatWhatEndedBeforeTheFollowerBegan(t *testing.T) {
	t.Parallel()
	for _, retried := range []bool{false, true} {
		s := newSite(t)
		h := s.hire("w1", 2, hold)
		h.reports(time.Hour)
		id := s.submit(6)
		ended, leave := s.follows(id)
		want := map[string]int{}
		for i := range 6 {
			want[fmt.Sprint(i, " succeeded")] = 1
		}
		for n, end := range []func(given) *task.Outcome{well, badly} {
			g := h.has(n + 1)[n]
			if n == 0 || !retried {
				delete(want, fmt.Sprint(g.Index, " succeeded"))
			}
			h.ends(g, end(g))
		}
		ended(2)
		h.reports(0)
		// of an attempt that began at some time within the hour
		now := func(g given) *task.Outcome {
			o := well(g)
			o.Duration = time.Hour
			return o
		}
		o := api.FollowOptions{OnDisconnect: func(error) bool { return false }}
		if retried {
			made, err := s.client.Retry(t.Context(), id, api.ResumeRequest{}, api.DetailTasks)
			s.must(err)
			o.After = made.Events
		}
		told, restarted := map[string]int{}, false
		s.must(s.client.Follow(t.Context(), id, o, func(u api.Update) error {
			for _, r := range u.Rows {
				told[fmt.Sprint(r.Index, " ", r.State)]++
			}
			if !restarted {
				restarted = true
				leave()
				all := h.has(4)
				h.ends(all[2], now(all[2]))
				s.becomes(id, map[string]int64{"succeeded": 2})
				s.end()
				h.ends(all[3], now(all[3]))
				s.start()
				return nil
			}
			for _, g := range h.has(4)[4:] {
				h.ends(g, now(g))
			}
			return nil
		}))
		for what, n := range told {
			if state := strings.Fields(what)[1]; state == "succeeded" || state == "failed" {
				if n != want[what] {
					t.Errorf("retried %t: %s was told %d times", retried, what, n)
				}
				delete(want, what)
			}
		}
		if len(want) > 0 {
			t.Errorf("retried %t: not told: %v", retried, want)
		}
	}
}

// follows begins to follow a sweep. ended waits until n ends of its tasks were told: they are then
// behind any follower that begins before leave, which is not so of what the API counts, as events
// come after the commit.
func (s *site) follows(id string) (ended func(n int), leave func()) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	began, left := make(chan struct{}), make(chan struct{})
	first := sync.OnceFunc(func() { close(began) })
	var told atomic.Int64
	go func() {
		defer close(left)
		_ = s.client.Follow(ctx, id, api.FollowOptions{}, func(u api.Update) error {
			for _, r := range u.Rows {
				if state, _ := task.ParseState(r.State); state.Terminal() {
					told.Add(1)
				}
			}
			first()
			return nil
		})
	}()
	select {
	case <-began:
	case <-left:
		s.t.Fatalf("%s cannot be followed", id)
	}
	ended = func(n int) {
		s.t.Helper()
		s.until(fmt.Sprintf("%d ends were told", n), func() bool { return told.Load() >= int64(n) })
	}
	return ended, func() {
		cancel()
		<-left
	}
}

// Another connection does not mend an event that cannot be read, as one of a newer master.
func TestFollowingEndsAtAnEventThatCannotBeRead(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, "id: a.0.0\ndata: {\"tasks\": 5}\n\n")
	}))
	defer server.Close()
	client := dialTo(server)
	defer client.Close()
	away := func(why error) (end bool) {
		t.Errorf("it is taken for a master that is away: %v", why)
		return true
	}
	err := client.Follow(t.Context(), "train-1", api.FollowOptions{OnDisconnect: away},
		func(api.Update) error {
			return nil
		})
	if err == nil || !strings.Contains(err.Error(), "read an event") {
		t.Errorf("error: %v", err)
	}
}

// dialTo is a client of a test's own server.
func dialTo(s *httptest.Server) *api.Client {
	return api.DialBy("its host", func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", s.Listener.Addr().String())
	})
}

// A snapshot may be newer than the changes that come after it: what a task did before is not told
// again, and what it did since is.
func TestASnapshotThatIsAhead(t *testing.T) {
	t.Parallel()
	row := func(index, attempts int, state string) string {
		return fmt.Sprintf(`{"index": %d, "attempts": %d, "state": %q}`, index, attempts, state)
	}
	events := []string{
		`"snapshot": true, "more": true, "tasks": [` +
			strings.Join([]string{row(0, 1, "succeeded"), row(1, 1, "pending"),
				row(2, 2, "running"), row(3, 1, "failed")}, ", ") + `]`,
		`"tasks": [` + strings.Join([]string{
			row(0, 0, "claimed"), row(0, 1, "running"), row(0, 1, "succeeded"),
			row(1, 1, "running"), row(1, 1, "pending"), row(1, 1, "queued"), row(1, 2, "running"),
			row(1, 2, "succeeded"),
			row(2, 1, "claimed"), row(2, 2, "running"), // its worker gave one back
			// after a retry
			row(3, 1, "failed"), row(3, 1, "pending"), row(3, 2, "running"), row(3, 2, "failed"),
		}, ", ") + `]`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i, e := range events {
			_, _ = fmt.Fprintf(w,
				"id: a.%d.0\ndata: {\"sweep\": {\"id\": \"train-1\"}, \"closed\": %t, %s}\n\n", i,
				i == 1, e)
		}
	}))
	defer server.Close()
	client := dialTo(server)
	defer client.Close()
	told := map[int64][]string{}
	err := client.Follow(t.Context(), "train-1", api.FollowOptions{}, func(u api.Update) error {
		for _, r := range u.Rows {
			told[r.Index] = append(told[r.Index], fmt.Sprint(r.State, " ", r.Attempts))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[int64][]string{
		0: {"succeeded 1"},
		1: {"pending 1", "queued 1", "running 2", "succeeded 2"},
		2: {"running 2", "claimed 1"},
		3: {"failed 1", "pending 1", "running 2", "failed 2"},
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

// Events by hand: ids, snapshots and what comes after an id.
func TestEventsAreResumedByTheirIDs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.hire("w1", 1, hold)
	id := s.submit(4)
	g := h.has(2)
	s.becomes(id, map[string]int64{"running": 2})
	first := s.read(id, "", 1)[0]
	if first.id == "" || len(first.Rows) != 0 || first.Sweep.Counts["running"] != 2 {
		t.Errorf("the first event: %+v", first)
	}
	h.ends(g[0], well(g[0]))
	s.becomes(id, map[string]int64{"succeeded": 1})
	states := func(e told) (all []string) {
		for _, r := range e.Rows {
			all = append(all, fmt.Sprint(r.Index, " ", r.State))
		}
		return all
	}
	// What changed since, in whatever number of events.
	seen := map[string]bool{}
	for at := first.id; !seen["0 succeeded"]; {
		for _, e := range s.read(id, at, 2) {
			if at = e.id; e.Snapshot {
				t.Errorf("a snapshot of what is known: %+v", e)
			}
			for _, state := range states(e) {
				seen[state] = true
			}
		}
	}
	if seen["1 running"] {
		t.Error("task 1 did not change")
	}
	for _, unknown := range []string{"another.3.4", first.id + "9999", "-1", "x.y.z"} {
		e := s.read(id, unknown, 1)[0]
		if all := strings.Join(states(e), ", "); !e.Snapshot ||
			!strings.HasPrefix(all, "0 succeeded, 1 running") {
			t.Errorf("after %q: snapshot %t, %s", unknown, e.Snapshot, all)
		}
	}
}

// Who comes back to a sweep that has ended is told all of it before that it has.
func TestAllIsToldBeforeTheEnd(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit(2300)
	first := s.read(id, "", 1)[0].id
	s.hire("w1", 8, well)
	s.becomes(id, map[string]int64{"succeeded": 2300})
	for _, after := range []string{first, "lost.1.1"} {
		succeeded := map[int64]bool{}
		enough := errors.New("enough")
		err := server.ReadEvents(t.Context(), s.socket(), id, after, func(_, data string) error {
			e := parse[told](t, data)
			for _, r := range e.Rows {
				if r.State == "succeeded" {
					succeeded[r.Index] = true
				}
			}
			if len(e.Rows) > 1000 {
				t.Errorf("an event of %d tasks", len(e.Rows))
			}
			if e.Idle() && !e.More {
				return enough
			}
			return nil
		})
		if err != enough || len(succeeded) != 2300 {
			t.Errorf("after %s: %d tasks, %v", after, len(succeeded), err)
		}
	}
}

// told is one event as it is read.
type told struct {
	id string
	api.Update
	Snapshot bool `json:"snapshot"`
	More     bool `json:"more"`
}

// read reads n events after an id.
func (s *site) read(sweep, after string, n int) (all []told) {
	s.t.Helper()
	enough := errors.New("enough")
	err := server.ReadEvents(s.t.Context(), s.socket(), sweep, after, func(id, data string) error {
		e := parse[told](s.t, data)
		e.id = id
		if all = append(all, e); len(all) == n {
			return enough
		}
		return nil
	})
	if err != enough {
		s.t.Fatal(err)
	}
	return all
}

// Live output reaches who asked for it, and not who did not.
func TestLinesReachAFollower(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.hire("w1", 1, hold)
	id := s.submit(1)
	h.has(1)
	want := task.Line{Sweep: id, Attempt: 1, Host: "gpu1", Text: "epoch 1", Missed: 3}
	enough, shown := errors.New("enough"), false
	err := s.client.Follow(t.Context(), id, api.FollowOptions{Detail: api.DetailOutput},
		func(u api.Update) error {
			if !shown {
				shown = s.queue.Worker("w1").OfferLine(want)
			}
			if len(u.Lines) == 0 {
				return nil
			}
			if diff := cmp.Diff([]task.Line{want}, u.Lines); diff != "" {
				t.Error(diff)
			}
			return enough
		})
	if err != enough {
		t.Error(err)
	}
}

// What begins with a submission is not missed by who follows it a little later.
func TestTheBeginningIsNotMissed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.hire("w1", 2, hold)
	for n, expected := range api.Details {
		made, err := s.client.Submit(t.Context(), submission(t, 3), "", expected)
		s.must(err)
		all := h.has(3*n + 3)[3*n:]
		end := func() {
			for _, g := range all {
				h.ends(g, well(g))
			}
		}
		for _, g := range all {
			s.queue.Worker("w1").OfferLine(task.Line{Sweep: g.sweep, Index: g.Index,
				Attempt: g.Number,
				Text:    "begun"})
		}
		if !expected.Output() {
			end()
			s.becomes(made.ID, map[string]int64{"succeeded": 3})
		}
		ends, lines, last := 0, 0, api.Update{}
		s.must(s.client.Follow(t.Context(), made.ID, api.FollowOptions{Detail: expected,
			After: made.Events}, func(u api.Update) error {
			for _, r := range u.Rows {
				if r.State == "succeeded" {
					ends++
				}
			}
			last = u
			if lines += len(u.Lines); lines == 3 && len(u.Lines) > 0 {
				end() // lines take another way than events, and might come after them
			}
			return nil
		}))
		wantEnds := map[api.Detail]int{api.DetailTasks: 3, api.DetailOutput: 3}[expected]
		wantLines := map[api.Detail]int{api.DetailOutput: 3}[expected]
		if ends != wantEnds || lines != wantLines || last.Sweep.Counts["succeeded"] != 3 ||
			!last.Idle() {
			t.Errorf("%s: %d ends, %d lines, at last %+v", expected, ends, lines, last)
		}
	}
}
