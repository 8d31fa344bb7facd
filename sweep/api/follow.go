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

// Following says how a sweep is followed.
type Following struct {
	Detail Detail // "": its tasks
	After  string // what happened since: the Events of a StartedSweep; "": from now on
	// Away, when set, lets Follow go on when the master goes away: it is called with the reason,
	// and unless it says that this is the end Follow tries again with pauses, and Away is called
	// with nil when the master is back. Nothing is missing then. Unset, Follow ends with the
	// master.
	Away func(why error) (end bool)
}

// Pauses between two tries to reach a master that went away, and how long one may say nothing, not
// even that it is there.
const (
	shortestPause = 100 * time.Millisecond
	longestPause  = 5 * time.Second
	silence       = 3 * KeepAlive
)

// Follow calls each with every update of a sweep until it is idle, each returns an error, or the
// master ends: then the last update says so, or the error does. A sweep that is idle at the
// beginning has one update.
func (c *Client) Follow(ctx context.Context, id string, o Following,
	each func(Update) error) error {
	f := &follower{
		client: c,
		path:   sweepPath(id) + "/events",
		detail: o.Detail,
		each:   each,
		last:   o.After,
		told:   map[int64]state{},
	}
	err := persist(ctx, o.Away, passing, func(here func()) error { return f.read(ctx, here) })
	if errors.Is(err, errClosed) {
		return nil
	}
	return err
}

// persist calls try until it returns nil or an error that does not pass, with pauses. Away is
// called as in Following; nil: try is called once. Try calls here once the master has answered.
func persist(ctx context.Context, away func(why error) (end bool), passes func(error) bool,
	try func(here func()) error) error {
	pause, mine := shortestPause, own{}
	for gone, frozen := false, false; ; {
		err := try(func() {
			if pause = shortestPause; gone {
				gone = false
				away(nil)
			}
		})
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &mine):
			return mine.error
		case away == nil || !passes(err):
			return err
		}
		if !gone || errors.Is(err, ErrSilent) != frozen {
			gone, frozen = true, errors.Is(err, ErrSilent)
			if end := away(err); end {
				return err
			}
		}
		select {
		case <-time.After(pause):
			pause = min(2*pause, longestPause)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// errClosed is that the master stopped as it should.
var errClosed = errors.New("the master has stopped")

// own marks an error that another connection does not mend: one of the function that takes updates,
// or of their form.
type own struct{ error }

// passing tells whether an error may go away with the master's return: no refusal does.
func passing(err error) bool {
	e, refused := errors.AsType[*Error](err)
	return !refused || e.Status >= http.StatusInternalServerError
}

func stateOf(r table.Row) state {
	s, _ := task.ParseState(r.State) // what is not known counts as pending
	return state{s, r.Attempts}
}

// follower reads the events of a sweep over any number of connections.
type follower struct {
	client *Client
	path   string
	detail Detail
	each   func(Update) error
	last   string          // id of the last event
	told   map[int64]state // of tasks, as each was told: they may be repeated
}

// state is what of a task makes it worth telling again: one that is still as it was told is not.
type state struct {
	task.State
	attempts int
}

// read follows over one connection; here is called when it gives events. Nil is that the sweep is
// idle.
func (f *follower) read(ctx context.Context, here func()) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(silence,
		func() { cancel(fmt.Errorf("the master said nothing for %v", silence)) })
	defer quiet.Stop()
	body, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer body.Close()
	lines := bufio.NewReaderSize(body, 64<<10)
	var id string
	for {
		line, err := lines.ReadSlice('\n')
		data := bytes.Clone(line)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = lines.ReadSlice('\n')
			data = append(data, line...)
		}
		if err != nil {
			return f.broke(ctx, err)
		}
		quiet.Reset(silence)
		name, value, _ := bytes.Cut(bytes.TrimSuffix(data, []byte("\n")), []byte(": "))
		switch string(name) {
		case "id":
			id = string(value)
		case "data":
			here()
			if idle, err := f.take(id, value); err != nil || idle {
				return err
			}
			id = ""
		}
	}
}

// broke is the error of a connection that ended.
func (f *follower) broke(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err == io.EOF {
		return f.client.wentAway(io.ErrUnexpectedEOF)
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

// take hands on one event, and tells whether it was the last.
func (f *follower) take(id string, data []byte) (idle bool, err error) {
	var e Event
	if err := json.Unmarshal(data, &e); err != nil {
		return false, own{fmt.Errorf("read an event: %w", err)}
	}
	f.path = sweepPath(e.Sweep.ID) + "/events" // the newest may be another one when it comes back
	e.Rows = f.news(e.Rows)
	for _, r := range e.Rows {
		f.told[r.Index] = stateOf(r)
	}
	if err := f.each(e.Update); err != nil {
		return false, own{err}
	}
	if id != "" {
		f.last = id
	}
	if e.Closed {
		return false, errClosed
	}
	return e.Idle() && !e.More, nil
}

// news are the rows that were not told as they are now, and those of running tasks, whose metrics
// change.
func (f *follower) news(rows []table.Row) (fresh []table.Row) {
	for _, r := range rows {
		now, told := stateOf(r), f.told[r.Index]
		repeated := told == now && (now.State != task.Running || len(r.Metrics) == 0)
		if !repeated && !told.follows(now) {
			fresh = append(fresh, r)
		}
	}
	return fresh
}

// follows reports whether a task was in another state before it came to s, and cannot come back to
// it. A snapshot may be newer than the changes that are told after it.
func (s state) follows(before state) bool {
	if s.State == task.Running { // its worker may give the attempt back, which then does not count
		return false
	}
	return before.attempts < s.attempts ||
		before.attempts == s.attempts && before.State == task.Running
}
