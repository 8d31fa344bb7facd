package master_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mlframework/sweep"
	"mlframework/sweep/master"
	"mlframework/sweep/task"
)

// serve gives the master a socket and returns a client of it, and the bare means to ask.
func (s *site) serve() (*master.Client, *http.Client) {
	s.t.Helper()
	socket := filepath.Join(s.t.TempDir(), "run.sock")
	l, err := net.Listen("unix", socket)
	s.must(err)
	server := &http.Server{Handler: s.master.Handler()}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	c := master.Dial(socket)
	bare := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	s.t.Cleanup(func() {
		c.Close()
		bare.CloseIdleConnections()
		_ = server.Close()
		<-done
	})
	return c, bare
}

func TestTheAPI(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c, _ := s.serve()
	h := s.newHand("w1", 1)
	id := s.submit(5)
	g := h.has(2)[0]
	h.report(task.StartedEvent, g)
	s.becomes(id, sweep.Open, "3 pending, 1 queued, 1 running")
	ctx := t.Context()
	sum, err := c.Pause(ctx, id, true)
	s.must(err)
	if sum.ID != id || sum.State != sweep.Paused || sum.Reason == nil || *sum.Reason != "paused by a person" || sum.Counts["running"] != 1 {
		t.Errorf("%+v", sum)
	}
	h.toldStop(g)
	if sum, err = c.CancelTask(ctx, id, 4); err != nil || sum.Counts["cancelled"] != 1 {
		t.Errorf("%+v, %v", sum, err)
	}
	if sum, err = c.Cancel(ctx, id); err != nil || sum.State != sweep.Cancelled {
		t.Errorf("%+v, %v", sum, err)
	}
	h.end(task.Stopped, g)
	h.report(task.ReturnedEvent, h.has(2)[1])
	s.becomes(id, sweep.Cancelled, "5 cancelled")
}

func TestTheAPIRefusesWithWords(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, bare := s.serve()
	s.newRunner("w1", 1, time.Millisecond)
	id := s.submit(2)
	s.becomes(id, sweep.Finished, "2 succeeded")
	ask := func(method, path string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://master/v1/sweeps/"+path, nil)
		s.must(err)
		answer, err := bare.Do(r)
		s.must(err)
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		s.must(err)
		return answer.StatusCode, strings.TrimSpace(string(body))
	}
	check := func(method, path string, status int, text string) {
		t.Helper()
		if got, body := ask(method, path); got != status || body != text {
			t.Errorf("%s %s: %d %s; want %d %s", method, path, got, body, status, text)
		}
	}
	check("POST", "evaluate/cancel", 404, `{"error":"there is no sweep evaluate"}`)
	check("GET", "evaluate/follow", 404, `{"error":"there is no sweep evaluate"}`)
	check("POST", "train-1/tasks/9/cancel", 404, `{"error":"train-1 has no task 9: it has 2"}`)
	check("POST", "train-1/tasks/one/cancel", 404, `{"error":"train-1 has no task one"}`)
	check("POST", "train-1/tasks/99999999999999999999/cancel", 404, `{"error":"train-1 has no task 99999999999999999999"}`)
	check("POST", "train-1/tasks/1/cancel", 409, `{"error":"train-1/1 is succeeded already"}`)
	check("POST", "train-1/cancel", 409, `{"error":"train-1 is finished already"}`)
	check("POST", "train-1/pause", 409, `{"error":"train-1 is finished"}`)
	check("GET", "train-1/cancel", 405, "Method Not Allowed")
	s.must(s.end())
	if status, body := ask("POST", "train-1/cancel"); status != 503 || body != `{"error":"the master has stopped"}` {
		t.Errorf("after the end: %d %s", status, body)
	}
}

func TestAClientKnowsARefusal(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c, _ := s.serve()
	_, err := c.Cancel(t.Context(), "a/b?c")
	var refused *master.Refused
	if !errors.As(err, &refused) || refused.Status != 404 || refused.Text != "there is no sweep a/b?c" {
		t.Errorf("%v", err)
	}
	gone := master.Dial(filepath.Join(t.TempDir(), "none"))
	defer gone.Close()
	if _, err := gone.Pause(t.Context(), "x", false); err == nil || errors.As(err, &refused) && refused.Status == 0 {
		t.Error(err)
	}
}

func TestFollowEndsWhenTheSweepIsIdle(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c, _ := s.serve()
	id := s.submit(3)
	var last master.Update
	rows := 0
	begin := sync.OnceFunc(func() { s.newRunner("w1", 1, time.Millisecond) })
	s.must(c.Follow(t.Context(), id, true, func(u master.Update) error {
		begin()
		last, rows = u, rows+len(u.Rows)
		return nil
	}))
	if !last.Idle() || last.Sweep.State != sweep.Finished || rows < 3 {
		t.Errorf("%+v after %d rows", last, rows)
	}
	again := 0
	s.must(c.Follow(t.Context(), id, false, func(master.Update) error { again++; return nil }))
	if again != 1 {
		t.Errorf("%d updates of a sweep that has ended", again)
	}
}

func TestFollowEndsWithTheMaster(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c, _ := s.serve()
	id := s.submit(1)
	closed := false
	s.must(c.Follow(t.Context(), id, false, func(u master.Update) error {
		if closed = u.Closed; !closed {
			go func() { _ = s.end() }()
		}
		return nil
	}))
	if !closed {
		t.Error("nobody said so")
	}
}

func TestAFollowerThatGoesAwayIsForgotten(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c, _ := s.serve()
	id := s.submit(1)
	h := s.newHand("w1", 1)
	enough := errors.New("enough")
	err := c.Follow(t.Context(), id, true, func(master.Update) error { return enough })
	if !errors.Is(err, enough) {
		t.Errorf("%v", err)
	}
	h.told("follow off", func(c task.Control) bool { return c.Kind == task.FollowControl && c.Off })
}
