package master_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/notify"
	"mlframework/sweep/task"
)

// hook takes messages; each waits for its answer.
type hook struct {
	*httptest.Server
	got    chan notify.Message
	answer chan int // statuses
	open   atomic.Int32
}

func newHook(t *testing.T) *hook {
	h := &hook{got: make(chan notify.Message, 10), answer: make(chan int, 10)}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.open.Add(1)
		defer h.open.Add(-1)
		var m notify.Message
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		h.got <- m
		select {
		case status := <-h.answer:
			w.WriteHeader(status)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(h.Close)
	return h
}

// next is the next message.
func (h *hook) next(t *testing.T) notify.Message {
	t.Helper()
	select {
	case m := <-h.got:
		return m
	case <-time.After(limit):
		t.Fatalf("no message came in %v", limit)
		panic("unreachable")
	}
}

func (h *hook) silent(t *testing.T) {
	t.Helper()
	select {
	case m := <-h.got:
		t.Errorf("it was told %+v", m)
	default:
	}
}

func (h *hook) of(s *master.Submission) {
	s.Record.Notify = &task.Notify{URL: h.URL + "/secret"}
}

// notices is what the store has of them.
func (s *site) notices(id string) []core.Notice {
	s.t.Helper()
	sw, err := s.store.Sweep(s.t.Context(), id)
	s.must(err)
	return sw.Record.Notices
}

// A notice whose master ends while it is sent is sent by the next, and not again once that is kept.
func TestNoticesOutliveTheMaster(t *testing.T) {
	t.Parallel()
	hook := newHook(t)
	s := newSite(t)
	h := s.newHand("w1", 1)
	id := s.submit(1, hook.of)
	h.end(task.Error, h.has(1)...)
	s.becomes(id, core.Finished, "1 failed")
	first := hook.next(t)
	s.again() // while nobody answered
	if second := hook.next(t); first.Event != core.EndedNotice || second.Event != first.Event ||
		second.Failed != 1 || second.Tasks != 1 || second.See != "run-tasks show "+id {
		t.Errorf("told %+v, then %+v", first, second)
	}
	s.poll("the first has hung up", func() bool { return hook.open.Load() == 1 }, func() string {
		return "there still"
	})
	hook.answer <- http.StatusOK
	s.poll("it is kept", func() bool { return !s.notices(id)[0].Pending() }, func() string {
		return "pending"
	})
	s.again()
	s.master.AwaitNotices()
	hook.silent(t)
	if all := s.notices(id); len(all) != 1 || all[0].Sent.IsZero() || all[0].Error != "" {
		t.Errorf("%+v", all)
	}
}

// A hook that fails twice is given up, which is kept. After a retry, it is told of the next end.
func TestNoticesOfAHookThatFails(t *testing.T) {
	t.Parallel()
	hook := newHook(t)
	s := newSite(t, func(o *master.Options) { o.Notify.Pause = time.Nanosecond })
	h := s.newHand("w1", 1)
	id := s.submit(1, hook.of)
	h.end(task.Error, h.has(1)...)
	hook.answer <- http.StatusForbidden
	hook.answer <- http.StatusForbidden
	s.poll("it is given up", func() bool {
		all := s.notices(id)
		return len(all) == 1 && strings.HasSuffix(all[0].Error, " answered 403 Forbidden")
	}, func() string { return "something else" })
	hook.next(t)
	hook.next(t)
	s.must(s.master.Retry(t.Context(), id, nil, false, api.Continuation{}))
	h.end(task.Success, h.has(2)[1])
	hook.answer <- http.StatusOK
	if m := hook.next(t); m.Event != core.EndedNotice || m.Succeeded != 1 {
		t.Errorf("told %+v", m)
	}
	s.master.AwaitNotices()
	hook.silent(t)
	if strings.Contains(s.log.String(), "secret") {
		t.Errorf("the log has the URL:\n%s", s.log)
	}
}

// A master of workers has no programs.
func TestNotifyCommandIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var sub master.Submission
	sub.Record = record(t, 1)
	sub.Record.Notify = &task.Notify{Command: []string{"tell"}}
	if _, err := s.master.Submit(t.Context(), sub); !errors.Is(err, core.ErrNotifyCommand) {
		t.Errorf("%v", err)
	}
}
