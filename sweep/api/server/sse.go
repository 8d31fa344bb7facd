package server

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/store"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// events streams a sweep as server-sent events, until the client disconnects or the master stops.
//
// The first event has the sweep's summary. A client that reconnects with the id of the last event
// it read catches up: it gets what has changed since. Where that is no longer known (the master was
// restarted, or too much has happened) it gets a snapshot: every task as it is now, except those
// that ended before it began to follow. Either way no update is lost.
func (s *Server) events(w http.ResponseWriter, r *http.Request) (any, error) {
	follow, err := readFollow(r)
	if err != nil {
		return nil, err
	}
	stored, err := s.archive.Stored(r.Context(), r.PathValue("sweep"))
	if err != nil {
		return nil, err
	}
	buffer, leave, err := s.buffers.join(r.Context(), stored.Head.ID,
		cmp.Or(follow, api.DetailTasks))
	if err != nil {
		return nil, err
	}
	defer leave()
	t := &eventStream{
		s:      s,
		r:      r,
		w:      w,
		flush:  http.NewResponseController(w),
		buffer: buffer,
		sweep:  stored.Head.ID,
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	return nil, t.run(r.Header.Get(api.EventHeader))
}

// eventStream is the stream of one client.
type eventStream struct {
	s      *Server
	r      *http.Request
	w      io.Writer
	flush  *http.ResponseController
	buffer *eventBuffer
	sweep  string
	seen   int64     // version of the buffer
	since  time.Time // when the client began to follow; zero: with the sweep, or not known
}

func (t *eventStream) run(last string) error {
	if err := t.buffer.waitReady(t.r.Context()); err != nil {
		return err
	}
	at, lost := t.buffer.find(last)
	if t.since = readerSince(last); last == "" {
		t.since = time.Now()
	}
	err := t.sendFirst(at, lost && last != "")
	for err == nil {
		at, err = t.next(at)
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// sendFirst sends the first event, or a snapshot if the client has lost events.
func (t *eventStream) sendFirst(at position, lost bool) error {
	if lost {
		return t.snapshot(at)
	}
	n := t.buffer.after(at) // before the summary is read
	if !n.gap && n.to == at {
		t.seen = n.version
	}
	stored, err := t.s.archive.Stored(t.r.Context(), t.sweep)
	if err != nil {
		return err
	}
	rows, err := t.blockedRows(stored)
	if err != nil {
		return err
	}
	running, err := t.runningRows(stored)
	if err != nil {
		return err
	}
	if n.Sweep.Waits != nil {
		stored.Head.Waits = *n.Sweep.Waits
	}
	if n.Sweep.Silent != nil {
		stored.Head.Silent = *n.Sweep.Silent
	}
	now := api.Update{Sweep: stored.Record.Summary(stored.Head), Rows: append(rows, running...),
		Best: n.Best, Unranked: n.Unranked}
	return t.send(at, t.withMore(at, api.Event{Update: now}))
}

// maxMeasured bounds the running tasks whose metrics are in the first event.
const maxMeasured = 100

// runningRows are running tasks that reported metrics, the first of them: the next value of one may
// be far off.
func (t *eventStream) runningRows(s store.Sweep) (rows []table.Row, err error) {
	if s.Head.Rows[task.Running] == 0 || !t.buffer.detail.Tasks() {
		return nil, nil
	}
	page, err := t.s.archive.Tasks(t.r.Context(), t.sweep,
		api.Query{States: []task.State{task.Running}, Issued: true, Limit: maxMeasured})
	for _, r := range page.Tasks {
		if len(r.Metrics) > 0 {
			rows = append(rows, r)
		}
	}
	return rows, err
}

// blockedRows are the tasks that wait for a worker which is not there.
func (t *eventStream) blockedRows(s store.Sweep) (rows []table.Row, err error) {
	if len(s.Record.Workers) == 0 || !t.buffer.detail.Tasks() {
		return nil, nil
	}
	err = t.s.archive.Rows(t.r.Context(), t.sweep, api.Query{States: []task.State{task.Pending}},
		func(r *table.Row) error {
			if r.Attempts == 0 && r.Reason != "" {
				rows = append(rows, *r)
			}
			return nil
		})
	return rows, err
}

// withMore completes an event with whether more events follow: they also do when the buffer has not
// got the sweep's end yet.
func (t *eventStream) withMore(at position, e api.Event) api.Event {
	n := t.buffer.after(at)
	e.More = n.gap || n.to != at || e.Idle() && !n.Idle()
	return e
}

// next waits for something new and sends it.
func (t *eventStream) next(at position) (position, error) {
	n := t.buffer.after(at)
	switch {
	case n.gap:
		return n.to, t.snapshot(n.to)
	case n.to != at || n.version != t.seen:
		t.seen = n.version
		return n.to, t.update(n)
	}
	alive := time.NewTimer(api.KeepAlive)
	defer alive.Stop()
	select {
	case <-n.changed:
		return at, nil
	case <-alive.C:
		_, err := io.WriteString(t.w, ": keep-alive\n\n")
		if err == nil {
			err = t.flush.Flush()
		}
		return at, err
	case <-t.r.Context().Done():
		return at, io.EOF
	}
}

// update sends what the buffer has. Followers leave when a sweep is idle, so that it must still be
// true when it is sent: the buffer may be older than the store.
func (t *eventStream) update(n delta) (err error) {
	u := n.Update
	if u.Idle() && !u.Closed {
		if u.Sweep, err = t.s.archive.Summary(t.r.Context(), t.sweep); err != nil {
			return err
		}
	}
	if err := t.send(n.to, api.Event{Update: u, More: n.more}); err != nil {
		return err
	}
	if u.Closed {
		return io.EOF
	}
	return nil
}

// snapshot sends every task that has a row, apart from those that ended before the follower began.
// Only its last event has an id, so that a snapshot that broke off is not taken for a complete one.
func (t *eventStream) snapshot(at position) error {
	now, err := t.s.archive.Summary(t.r.Context(), t.sweep)
	if err != nil {
		return err
	}
	var rows []table.Row
	err = t.s.archive.Rows(t.r.Context(), t.sweep, api.Query{Issued: true},
		func(r *table.Row) error {
			if endedBefore(r, t.since) {
				return nil
			}
			rows = append(rows, *r)
			if len(rows) < rowsPerEvent {
				return nil
			}
			full := rows
			rows = nil
			return t.write("", api.Event{Update: api.Update{Sweep: now, Rows: full}, Snapshot: true,
				More: true})
		})
	if err != nil {
		return err
	}
	return t.send(at, t.withMore(at, api.Event{Update: api.Update{Sweep: now, Rows: rows},
		Snapshot: true}))
}

// clockTolerance is how far the clock of a worker may be behind the master's so that a follower is
// still told how its tasks ended.
const clockTolerance = time.Minute

// endedBefore reports whether the newest attempt of a task ended before a follower began, and the
// task is not with a worker now. It is false where that is not known.
func endedBefore(r *table.Row, since time.Time) bool {
	state, err := task.ParseState(r.State)
	ended := err == nil && (state.Terminal() || state == task.Pending)
	if !ended || r.Started == nil || r.Duration == nil {
		return false
	}
	end := r.Started.Add(time.Duration(*r.Duration * float64(time.Second)))
	return end.Before(since.Add(-clockTolerance))
}

func (t *eventStream) send(at position, e api.Event) error {
	return t.write(t.buffer.id(at, t.since), e)
}

func (t *eventStream) write(id string, e api.Event) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if id != "" {
		id = "id: " + id + "\n"
	}
	if _, err := fmt.Fprintf(t.w, "event: update\n%sdata: %s\n\n", id, data); err != nil {
		return err
	}
	return t.flush.Flush()
}
