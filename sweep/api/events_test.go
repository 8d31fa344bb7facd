package api_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep"
	"mlframework/sweep/api"
	"mlframework/sweep/master"
	"mlframework/sweep/task"
)

func TestAFollowerSeesASweepToItsEnd(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit(30)
	told, hired := map[int64]string{}, false
	var last master.Update
	s.must(s.client.Follow(t.Context(), id, api.Following{Detail: master.Output}, func(u master.Update) error {
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
	if !last.Idle() || last.Sweep.State != sweep.Finished || len(told) != 30 {
		t.Errorf("%+v after %d tasks", last, len(told))
	}
	for index, state := range told {
		if state != "succeeded" {
			t.Errorf("the last that is told of %d is %s", index, state)
		}
	}
	updates := 0
	s.must(s.client.Follow(t.Context(), "", api.Following{}, func(master.Update) error { updates++; return nil }))
	if updates != 1 {
		t.Errorf("%d updates of a sweep that has ended", updates)
	}
}

func TestFollowingEndsWithTheMaster(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit(1)
	closed := false
	err := s.client.Follow(t.Context(), id, api.Following{}, func(u master.Update) error {
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
	if err := s.client.Follow(t.Context(), id, api.Following{}, func(master.Update) error { return enough }); err != enough {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	err := s.client.Follow(ctx, id, api.Following{Away: func(err error) bool { t.Error(err); return true }}, func(master.Update) error { cancel(enough); return nil })
	if err != enough {
		t.Errorf("%v", err)
	}
}

// Whatever happens while the master is away is told when it is back; and what was told before is not told again.
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
	s.must(s.client.Follow(t.Context(), id, api.Following{Away: func(err error) bool {
		if err != nil {
			away++
		} else {
			back++
		}
		return false
	}}, func(u master.Update) error {
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
		if all := strings.Join(states(e), ", "); !e.Snapshot || !strings.HasPrefix(all, "0 succeeded, 1 running") {
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
		err := api.ReadEvents(t.Context(), s.client, id, after, func(_, data string) error {
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
	master.Update
	Snapshot bool `json:"snapshot"`
	More     bool `json:"more"`
}

// read reads n events after an id.
func (s *site) read(sweep, after string, n int) (all []told) {
	s.t.Helper()
	enough := errors.New("enough")
	err := api.ReadEvents(s.t.Context(), s.client, sweep, after, func(id, data string) error {
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

func TestAFeedForgetsAndSaysSo(t *testing.T) {
	t.Parallel()
	f := api.NewFeed()
	begin := f.End()
	f.Add(0, 1, 2)
	middle := f.End()
	for i := range int64(1500) {
		f.Add(0, i)
	}
	got, last, ok := f.After(begin)
	if len(got) != 1502 || got[0] != 1 || got[1501] != 1499 || !ok || last != f.End() {
		t.Errorf("%d rows, %t", len(got), ok)
	}
	if got, _, ok = f.After(middle); len(got) != 1500 || !ok {
		t.Errorf("%d rows, %t", len(got), ok)
	}
	if got, _, ok = f.After(f.End()); len(got) != 0 || !ok {
		t.Errorf("%d rows after the last, %t", len(got), ok)
	}
	for range 2 * api.RowsKept {
		f.Add(0, 0)
	}
	if _, _, ok = f.After(middle); ok {
		t.Error("it says that it has everything")
	}
	now := f.End()
	f.Add(1, 7) // one was left out by the master
	if _, _, ok = f.After(now); ok {
		t.Error("it says that nothing was left out")
	}
}

// A feed keeps about so many bytes of lines, tells them in parts, and counts what it does not keep.
func TestAFeedBoundsLines(t *testing.T) {
	t.Parallel()
	f := api.NewFeed()
	begin, text := f.End(), strings.Repeat("x", 4000)
	const shown, skipped = 5000, 30
	for n := range int64(shown) {
		f.AddLines(0, task.Line{Index: n, Text: text})
	}
	f.AddLines(skipped, task.Line{Index: shown, Text: text}) // the master left some out behind it
	f.AddLines(0, task.Line{Index: shown + skipped + 1, Text: "last"})
	next, most := int64(0), 0
	f.Lines(begin, func(lines []task.Line, missed int64) {
		next += missed
		bytes := 0
		for _, l := range lines {
			if l.Index != next {
				t.Fatalf("line %d came; want %d", l.Index, next)
			}
			next, bytes = next+1, bytes+len(l.Text)
		}
		most = max(most, bytes)
	})
	if next != shown+skipped+2 || most > api.LineBytesAtOne {
		t.Errorf("told of %d lines, in parts of up to %d bytes; want %d and at most %d", next, most, shown+skipped+2, api.LineBytesAtOne)
	}
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
	err := s.client.Follow(t.Context(), id, api.Following{Detail: master.Output}, func(u master.Update) error {
		if !shown {
			shown = s.queue.Port("w1").Show(want)
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
	for n, expected := range master.Details {
		made, err := s.client.Submit(t.Context(), submission(t, 3), "", expected)
		s.must(err)
		all := h.has(3*n + 3)[3*n:]
		end := func() {
			for _, g := range all {
				h.ends(g, well(g))
			}
		}
		for _, g := range all {
			s.queue.Port("w1").Show(task.Line{Sweep: g.sweep, Index: g.Index, Text: "begun"})
		}
		if !expected.Output() {
			end()
			s.becomes(made.ID, map[string]int64{"succeeded": 3})
		}
		ends, lines, last := 0, 0, master.Update{}
		s.must(s.client.Follow(t.Context(), made.ID, api.Following{Detail: expected, After: made.Events}, func(u master.Update) error {
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
		wantEnds := map[master.Detail]int{master.Tasks: 3, master.Output: 3}[expected]
		wantLines := map[master.Detail]int{master.Output: 3}[expected]
		if ends != wantEnds || lines != wantLines || last.Sweep.Counts["succeeded"] != 3 || !last.Idle() {
			t.Errorf("%s: %d ends, %d lines, at last %+v", expected, ends, lines, last)
		}
	}
}
