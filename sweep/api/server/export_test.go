package server

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// Renew is what a server does with its socket every other second.
func Renew(l net.Listener) error {
	_, err := l.(*listener).renew()
	return err
}

// Route is a row of the routes.
type Route struct {
	Method, Path string
	Query        []string
	Body, Answer any
	Asks         bool
	Steers       bool
}

// Routes are all of them.
func Routes() (all []Route) {
	for _, r := range routes {
		all = append(all,
			Route{r.method, r.path, r.query, r.body, r.answer,
				r.asks || r.method == "GET", r.steers})
	}
	return all
}

// RowsKept is how many rows a buffer keeps at least.
const RowsKept = maxRows

// Feed is the ring of events.
type Feed struct{ f *eventBuffer }

// NewFeed returns an empty buffer.
func NewFeed() Feed { return Feed{newEventBuffer(api.DetailOutput)} }

// Add tells it of rows, by their indexes, behind which some were cut.
func (f Feed) Add(cut int64, indexes ...int64) {
	u := api.Update{Cut: cut}
	for _, i := range indexes {
		u.Rows = append(u.Rows, table.Row{Index: i})
	}
	f.f.add(u)
}

// LineBytesAtOne bounds the lines of one event.
const LineBytesAtOne = lineBytesPerEvent

// AddLines tells it of lines, behind which some were missed.
func (f Feed) AddLines(missed int64, lines ...task.Line) {
	f.f.add(api.Update{Lines: lines, Missed: missed})
}

// Lines reads the lines that came after an id, event by event.
func (f Feed) Lines(id string, each func(lines []task.Line, missed int64)) {
	at, _ := f.f.find(id)
	for n := f.f.after(at); n.to != at; n = f.f.after(at) {
		each(n.Lines, n.Missed)
		at = n.to
	}
}

// After reads all that came after an id, event by event; false when that is not kept.
func (f Feed) After(id string) (indexes []int64, last string, ok bool) {
	at, lost := f.f.find(id)
	for !lost {
		n := f.f.after(at)
		if n.gap || n.to == at {
			return indexes, f.f.id(n.to, time.Time{}), !n.gap
		}
		for _, r := range n.Rows {
			indexes = append(indexes, r.Index)
		}
		at = n.to
	}
	return nil, "", false
}

// End is the id of its newest event.
func (f Feed) End() string {
	return f.f.id(f.f.end(), time.Time{})
}

// Panic makes the server panic when a path is asked for.
func (s *Server) Panic(path string) {
	s.mux.Handle("POST "+api.Root+path,
		s.middleware(route{method: "POST", do: func(*Server, http.ResponseWriter,
			*http.Request) (any, error) {
			panic("on purpose")
		}}))
}

// ReadEvents reads the events of a sweep as they are written.
func ReadEvents(ctx context.Context, socket, sweep, after string,
	each func(id, data string) error) error {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial}}
	defer client.CloseIdleConnections()
	at := "http://master" + api.Root + "/sweeps/" + sweep + "/events?follow=tasks"
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return err
	}
	if after != "" {
		r.Header.Set(api.EventHeader, after)
	}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	id, lines := "", bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			id = value
		} else if value, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			if err := each(id, value); err != nil {
				return err
			}
			id = ""
		}
	}
	return lines.Err()
}

// FillBodies has as many large bodies in memory as there may be, and lets others wait only so long.
func (s *Server) FillBodies(wait time.Duration) (free func()) {
	s.bodies.wait = wait
	for range largeBodies {
		s.bodies.large <- struct{}{}
	}
	return func() { <-s.bodies.large }
}

// Trusted reports whether a peer of a uid may ask a process of another.
func Trusted(uid, own int) bool { return peer{uid, true}.trusted(own) }

// ReadSubmission reads the body of a request that submits a sweep.
func ReadSubmission(body []byte) (api.Submission, error) {
	return readSubmission(&http.Request{Body: io.NopCloser(bytes.NewReader(body))})
}

// ReadQuery reads what the URL of a listing asks for.
func ReadQuery(v url.Values) (api.Query, error) { return readQuery(v) }

// Answer writes an answer.
func Answer(w http.ResponseWriter, v any) { writeJSON(w, http.StatusOK, v) }

// ReadBody reads the body of a request as a server does that takes at most so many bytes.
func ReadBody(most int64, body string) error {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	_, done, err := newBodies(most).read(httptest.NewRecorder(), r)
	if err == nil {
		done()
	}
	return err
}
