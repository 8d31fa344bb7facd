package master_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// audited is what the audit has of an action, the oldest first.
func (s *site) audited(action string) (all []string) {
	s.t.Helper()
	entries, err := s.store.Audit(s.t.Context(), "", 0, 1000)
	s.must(err)
	for _, d := range slices.Backward(entries) {
		if d.Action == action {
			all = append(all, strings.Join([]string{d.User, d.Kind, d.Object, d.Detail, d.Outcome},
				" "))
		}
	}
	return all
}

// joined has a worker's process register.
func (h *hand) joined(incarnation int) {
	beat := task.Heartbeat{Version: task.Version, Worker: h.name,
		Incarnation: strconv.Itoa(incarnation), Host: "gpu1\x1b[2J", Program: "1.2", Slots: 1}
	h.emit(task.Event{Version: task.Version, Kind: task.JoinedEvent, Worker: h.name,
		Time: time.Now(), Heartbeat: &beat})
}

// Each process of a worker that registers is an audit entry: one in a minute, so that a worker that
// starts again and again does not fill the store.
func TestAWorkerThatJoinsIsAudited(t *testing.T) {
	t.Parallel()
	var clock later
	s := newSite(t, clock.options)
	h := s.newHandThat(task.Heartbeat{Worker: "w1", Slots: 1, Incarnation: "1", Host: "gpu1",
		Program: "1.2"}, nil)
	s.newHandThat(task.Heartbeat{Worker: "w2", Slots: 1, Incarnation: "1"}, nil)
	known := func() bool { return len(s.audited("join")) >= 2 }
	s.poll("both are known", known, func() string { return strings.Join(s.audited("join"), "\n") })
	for n := 2; n <= 9; n++ {
		h.joined(n)
	}
	last := func(n int) func() bool {
		return func() bool {
			all, err := s.store.Workers(t.Context())
			s.must(err)
			return slices.ContainsFunc(all, func(w core.WorkerRecord) bool {
				return w.Name == "w1" && w.Incarnation == strconv.Itoa(n)
			})
		}
	}
	s.poll("all are registered", last(9), func() string { return "" })
	clock.by.Add(int64(time.Minute))
	h.joined(91)
	s.poll("so is the last", last(91), func() string { return "" })
	want := []string{
		"master worker w1 host=gpu1 program=1.2 process=1 done",
		"master worker w1 host=gpu1\\x1b[2J program=1.2 process=91 not-recorded=8 done",
		"master worker w2 host= program= process=1 done",
	}
	got := s.audited("join")
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the audit has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
