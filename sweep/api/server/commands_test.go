package server_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
)

func TestASweepFromItsSubmissionToItsRetry(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ctx, c := t.Context(), s.client
	h := s.hire("w1", 1, hold)
	id := s.submit(5)
	g := h.has(1)[0]
	s.becomes(id, map[string]int64{"running": 2})
	sum, err := c.Pause(ctx, "", true)
	s.must(err)
	if sum.ID != id || sum.State != core.Paused || sum.Reason == nil ||
		*sum.Reason != "paused by a person" ||
		sum.Counts["running"] != 2 {
		t.Errorf("paused: %+v", sum)
	}
	if sum, err = c.CancelTask(ctx, id, 4); err != nil || sum.Counts["cancelled"] != 1 {
		t.Errorf("a task cancelled: %+v, %v", sum, err)
	}
	if sum, err = begin(c.Resume(ctx, id,
		api.ResumeRequest{Continuation: api.Continuation{Revision: "r2",
			Code: "c2"}}, "")); err != nil || sum.State != core.Open || sum.Revision != "r2" {
		t.Errorf("resumed: %+v, %v", sum, err)
	}
	h.ends(g, badly(g))
	s.becomes(id, map[string]int64{"failed": 1})
	if sum, err = c.Cancel(ctx, id); err != nil || sum.State != core.Cancelled {
		t.Errorf("cancelled: %+v, %v", sum, err)
	}
	if sum, err = begin(c.Retry(ctx, id, api.ResumeRequest{Indexes: []int64{0}},
		"")); err != nil || sum.State != core.Open || sum.Counts["failed"] != 0 {
		t.Errorf("retried: %+v, %v", sum, err)
	}
}

func begin(b api.StartedSweep, err error) (core.Summary, error) { return b.Summary, err }

// Every write may be repeated under its key, by whom did not hear the answer.
func TestWritesAreDoneOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var all sync.WaitGroup
	ids := make([]string, 8)
	for i := range ids {
		all.Go(func() {
			made, err := s.client.Submit(t.Context(), submission(t, 3), "one key", "")
			if err == nil || i > 0 {
				return
			}
			refused, _ := errors.AsType[*api.Error](err)
			ids[i] = made.ID + refused.Parameter
		})
	}
	all.Wait()
	if ids[0] != "Idempotency-Key" {
		t.Errorf("a key with a space: %q", ids[0])
	}
	for i := range ids {
		all.Go(func() {
			made, err := s.client.Submit(t.Context(), submission(t, 3), "key-1", "")
			if ids[i] = made.ID; err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s.again()
	last, err := s.client.Submit(t.Context(), submission(t, 3), "key-1", "")
	s.must(err)
	made := last.Summary
	if want := strings.Repeat("train-1 ", 9); strings.Join(append(ids, made.ID), " ")+" " != want {
		t.Errorf("one key made %v and %s", ids, made.ID)
	}
	if made = parse[core.Summary](t,
		second(s.raw("POST", "/v1/sweeps/train-1/cancel", ""))); made.State != core.Cancelled {
		t.Errorf("%+v", made)
	}
	// A retry that is repeated is not done again, though its sweep was cancelled in between.
	for _, want := range []core.State{core.Open, core.Cancelled} {
		status, text, _ := s.raw("POST", "/v1/sweeps/train-1/retry", "", "Idempotency-Key", "r-1")
		if got := parse[core.Summary](t, text); status != http.StatusOK || got.State != want {
			t.Errorf("retry: %d %s", status, text)
		}
		_, err := s.client.Cancel(t.Context(), "train-1")
		s.must(err)
	}
	view, err := s.client.Sweep(t.Context(), "train-1", false)
	s.must(err)
	if view.State != core.Cancelled {
		t.Errorf("the second was done, too: %s", view.State)
	}
	if status, text, _ := s.raw("POST", "/v1/sweeps/train-1/cancel", "", "Idempotency-Key",
		"r-1"); status != http.StatusConflict {
		t.Errorf("another request under a used key: %d %s", status, text)
	}
}

func second(_ int, text string, _ http.Header) string { return text }

// Without a key, writes that name a state lead to it however often they come.
func TestWritesThatNameAState(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", 1, hold).has(0)
	id := s.submit(5)
	s.becomes(id, map[string]int64{"running": 2})
	for _, step := range []struct {
		path string
		want core.State
	}{{"/pause", core.Paused}, {"/resume", core.Open}, {"/pause?stop=true",
		core.Paused}, {"/tasks/4/cancel", core.Paused}, {"/cancel", core.Cancelled}} {
		var answers []core.State
		for range 2 {
			if status, text, _ := s.raw("POST", "/v1/sweeps/"+id+step.path,
				""); status == http.StatusOK {
				answers = append(answers, parse[core.Summary](t, text).State)
			} else if !strings.Contains(text, "is cancelled already") {
				t.Errorf("%s: %s", step.path, text)
			}
		}
		if len(answers) == 0 || answers[len(answers)-1] != step.want {
			t.Errorf("%s: %v, want %s", step.path, answers, step.want)
		}
	}
	for _, path := range []string{"/drain", "/slots?n=3", "/resume"} {
		first, second := second(s.raw("POST", "/v1/workers/w1"+path, "")), second(
			s.raw("POST", "/v1/workers/w1"+path, ""))
		a, b := parse[map[string]any](t, first), parse[map[string]any](t, second)
		for _, live := range []string{"seen", "running", "waiting", "load"} {
			delete(a, live)
			delete(b, live)
		}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%s twice: %s", path, diff)
		}
	}
}
