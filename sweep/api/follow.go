package api

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// FollowOptions control how a sweep is followed.
type FollowOptions struct {
	Detail Detail // "": its tasks
	After  string // what happened since: the Events of a StartedSweep; "": from now on
	// OnDisconnect, when set, makes Follow reconnect when it loses the master. It is called with
	// the cause, and again with nil once the master is back; between the two Follow retries with
	// back-off, unless end is true. No update is lost. If it is nil, Follow ends with the
	// connection.
	OnDisconnect func(why error) (end bool)
}

// The back-off between attempts to reconnect, and how long a stream may be silent, without even a
// keep-alive.
const (
	minPause   = 100 * time.Millisecond
	maxPause   = 5 * time.Second
	maxSilence = 3 * KeepAlive
)

// Follow calls each with every update of a sweep until the sweep is idle, each returns an error, or
// the master stops: the last update or the error says which. For a sweep that is idle from the
// start there is one update.
func (c *Client) Follow(ctx context.Context, id string, o FollowOptions,
	each func(Update) error) error {
	f := &follower{
		client:    c,
		path:      sweepPath(id) + "/events",
		detail:    o.Detail,
		each:      each,
		last:      o.After,
		delivered: map[int64]state{},
	}
	err := retryTransient(ctx, o.OnDisconnect, isTransient, func(here func()) error {
		return f.read(ctx, here)
	})
	if errors.Is(err, errClosed) {
		return nil
	}
	return err
}

// retryTransient calls try, with back-off, until it returns nil or an error that is not transient.
// onDisconnect is called as FollowOptions says; if it is nil, try is called once. try calls
// connected once the master has answered.
func retryTransient(ctx context.Context, onDisconnect func(why error) (end bool),
	transient func(error) bool,
	try func(connected func()) error) error {
	pause, permanent := minPause, permanentError{}
	for disconnected, frozen := false, false; ; {
		err := try(func() {
			if pause = minPause; disconnected {
				disconnected = false
				onDisconnect(nil)
			}
		})
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &permanent):
			return permanent.error
		case onDisconnect == nil || !transient(err):
			return err
		}
		if !disconnected || errors.Is(err, ErrSilent) != frozen {
			disconnected, frozen = true, errors.Is(err, ErrSilent)
			if end := onDisconnect(err); end {
				return err
			}
		}
		select {
		case <-time.After(pause):
			pause = min(2*pause, maxPause)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// errClosed reports that the master shut down cleanly.
var errClosed = errors.New("the master has stopped")

// permanentError is an error that no new connection can resolve: one of the caller's function, or
// an update that cannot be parsed.
type permanentError struct{ error }

// isTransient reports whether an error may be gone once the master is back: any but a refused
// request.
func isTransient(err error) bool {
	e, refused := errors.AsType[*Error](err)
	return !refused || e.Status >= http.StatusInternalServerError
}

func stateOf(r table.Row) state {
	s, _ := task.ParseState(r.State) // an unknown state counts as pending
	return state{s, r.Attempts}
}

// follower reads the events of a sweep over any number of connections.
type follower struct {
	client    *Client
	path      string
	detail    Detail
	each      func(Update) error
	last      string          // id of the last event
	delivered map[int64]state // by task, as last passed to each
}

// state is what makes a task's row worth passing on: one with the same state is a repetition.
type state struct {
	task.State
	attempts int
}

// read follows over one connection, and calls connected with its first event. It returns nil when
// the sweep is idle.
func (f *follower) read(ctx context.Context, connected func()) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silenceTimer := time.AfterFunc(maxSilence,
		func() { cancel(fmt.Errorf("the master did not respond for %v", maxSilence)) })
	defer silenceTimer.Stop()
	body, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer body.Close()
	lines := bufio.NewReaderSize(body, 64<<10)
	var id string
	for {
		data, err := readLine(lines, nil, mostOfMany)
		if err != nil {
			return f.connectionError(ctx, err)
		}
		silenceTimer.Reset(maxSilence)
		name, value, _ := bytes.Cut(bytes.TrimSuffix(data, []byte("\n")), []byte(": "))
		switch string(name) {
		case "id":
			id = string(value)
		case "data":
			connected()
			silenceTimer.Stop() // the caller may take its time
			if idle, err := f.handleEvent(id, value); err != nil || idle {
				return err
			}
			silenceTimer.Reset(maxSilence)
			id = ""
		}
	}
}

// connectionError is the error of a connection that ended.
func (f *follower) connectionError(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err == io.EOF {
		return f.client.connectionLost(io.ErrUnexpectedEOF)
	}
	return err
}

func (f *follower) open(ctx context.Context) (io.ReadCloser, error) {
	r, err := f.client.request(ctx, http.MethodGet, f.path,
		url.Values{"follow": {string(cmp.Or(f.detail, DetailTasks))}}, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "text/event-stream")
	if f.last != "" {
		r.Header.Set(EventHeader, f.last)
	}
	answer, err := f.client.do(r)
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

// handleEvent passes one event on, and reports whether it was the last.
func (f *follower) handleEvent(id string, data []byte) (idle bool, err error) {
	var e Event
	if err := json.Unmarshal(data, &e); err != nil {
		return false, permanentError{fmt.Errorf("read an event: %w", err)}
	}
	f.path = sweepPath(e.Sweep.ID) + "/events" // "newest" may mean another one after a reconnect
	e.Rows = f.changedRows(e.Rows)
	for _, r := range e.Rows {
		f.delivered[r.Index] = stateOf(r)
	}
	if err := f.each(e.Update); err != nil {
		return false, permanentError{err}
	}
	if id != "" {
		f.last = id
	}
	if e.Closed {
		return false, errClosed
	}
	return e.Idle() && !e.More, nil
}

// changedRows returns the rows whose state has changed, and those of running tasks, whose metrics
// change.
func (f *follower) changedRows(rows []table.Row) (fresh []table.Row) {
	for _, r := range rows {
		now, delivered := stateOf(r), f.delivered[r.Index]
		repeated := delivered == now && (now.State != task.Running || len(r.Metrics) == 0)
		if !repeated && !delivered.supersedes(now) {
			fresh = append(fresh, r)
		}
	}
	return fresh
}

// supersedes reports whether a task was in another state before it came to s, and cannot come back
// to it. A snapshot may be newer than the changes that are told after it.
func (s state) supersedes(before state) bool {
	if s.State == task.Running { // its worker may return the attempt, which then does not count
		return false
	}
	return before.attempts < s.attempts ||
		before.attempts == s.attempts && before.State == task.Running
}
