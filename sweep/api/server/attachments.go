package server

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
)

// Attachments are the clients that are attached to a local run. The run lasts until no client is
// attached and no sweep runs. A sweep is interrupted when the last of the clients that started or
// continued it ends without leaving it. Set the fields before the first request.
type Attachments struct {
	Idle func() bool        // whether no sweep runs
	Kill func(sweep string) // ends the attempts of a sweep at once

	mu     sync.Mutex
	open   map[string]*attachment // by id
	closed bool                   // no further client can attach
	early  []string               // what was logged before the first client was there
	failed string                 // by Fail
	last   net.Conn               // of the client that left last: the run ends
	left   chan struct{}
	came   chan struct{} // closed with the first client
	began  bool          // came is closed
}

// attachment is a client that is attached.
type attachment struct {
	conn   net.Conn // nil: it gets its answer yet
	sweeps map[string]bool
}

// NewAttachments returns Attachments without clients.
func NewAttachments() *Attachments {
	return &Attachments{open: map[string]*attachment{}, left: make(chan struct{}, 1),
		came: make(chan struct{})}
}

// Left receives after a client has gone while sweeps ran, or others were attached.
func (a *Attachments) Left() <-chan struct{} { return a.left }

// Came is closed when a client has attached, and was told all that it is told at first.
func (a *Attachments) Came() <-chan struct{} { return a.came }

// Close lets no further client attach, if none is attached and no sweep runs. It reports whether
// that is so.
func (a *Attachments) Close() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = a.closed || len(a.open) == 0 && a.Idle()
	return a.closed
}

// Write tells clients what is logged: those that are attached, or the first one. It never fails.
func (a *Attachments) Write(text []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.tell(api.Logs, string(text)) && !a.began {
		a.early = append(a.early, string(text))
	}
	return len(text), nil
}

// Fail tells clients the error with which the run ends, as it is printed, also those that attach
// later.
func (a *Attachments) Fail(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failed = text
	_ = a.tell(api.Failed, text)
}

// tellTime bounds how long a client that does not read holds the run up.
const tellTime = time.Second

// tell sends a line to every client, and reports whether there is one.
func (a *Attachments) tell(verb, text string) (told bool) {
	quoted, _ := json.Marshal(text) // a string can be
	for _, c := range a.open {
		if c.conn == nil {
			continue
		}
		told = true
		_ = c.conn.SetWriteDeadline(time.Now().Add(tellTime))
		_, _ = fmt.Fprintf(c.conn, "%s %s\n", verb, quoted) // it may have gone
	}
	return told
}

// Linger tells the client that left last that the run does not end yet: it stops processes that
// tasks left behind.
func (a *Attachments) Linger() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last != nil {
		_ = a.last.SetWriteDeadline(time.Now().Add(tellTime))
		_, _ = io.WriteString(a.last, api.Lingers+"\n") // it may have gone
	}
}

// leave removes a client that leaves its sweeps as they are, and tells it whether the run ends.
func (a *Attachments) leave(id string, conn net.Conn) (ended bool) {
	a.end(id)
	ended = a.Close()
	a.mu.Lock()
	defer a.mu.Unlock()
	line := api.Stays
	if ended {
		line, a.last = api.Ended, conn
	}
	_ = conn.SetWriteDeadline(time.Now().Add(tellTime)) // that of the last tell is over
	_, _ = io.WriteString(conn, line+"\n")              // it may have gone
	return ended
}

// begin adds a client; false if the run is about to end.
func (a *Attachments) begin() (id string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return "", false
	}
	id = rand.Text()
	a.open[id] = &attachment{sweeps: map[string]bool{}}
	return id, true
}

// welcome answers a client that has begun.
func (a *Attachments) welcome(id string, conn net.Conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open[id].conn = conn
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"+
		"Upgrade: %s\r\n\r\n%s\n", api.AttachmentProtocol, id) // else reading fails
	for _, text := range a.early {
		_ = a.tell(api.Logs, text)
	}
	a.early = nil
	if a.failed != "" {
		_ = a.tell(api.Failed, a.failed)
	}
	if !a.began {
		a.began = true
		close(a.came)
	}
}

// end removes a client and returns those of its sweeps that no other has.
func (a *Attachments) end(id string) (sweeps []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	of := a.open[id].sweeps
	delete(a.open, id)
	for _, other := range a.open {
		maps.DeleteFunc(of, func(sweep string, _ bool) bool { return other.sweeps[sweep] })
	}
	sweeps = slices.Collect(maps.Keys(of))
	select {
	case a.left <- struct{}{}:
	default:
	}
	return sweeps
}

// give makes a sweep one of a client; with the id "" it is of none any more. The error says that the
// client has gone: the sweep is not to run.
func (a *Attachments) give(sweep, id string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if id == "" {
		for _, c := range a.open {
			delete(c.sweeps, sweep)
		}
		return nil
	}
	c, ok := a.open[id]
	if !ok {
		return &api.Error{Status: http.StatusConflict, Text: "the client that started " + sweep +
			" has gone"}
	}
	c.sweeps[sweep] = true
	return nil
}

// attached makes a sweep that a request started or continued one of its client, and interrupts the
// sweep if that has gone meanwhile.
func (s *Server) attached(r *http.Request, sweep string) error {
	if s.o.Attachments == nil {
		return nil
	}
	err := s.o.Attachments.give(sweep, r.Header.Get(api.AttachmentHeader))
	if err != nil {
		s.interrupt(r.Context(), false, sweep)
	}
	return err
}

// interrupt pauses sweeps and stops their attempts.
func (s *Server) interrupt(ctx context.Context, kill bool, sweeps ...string) {
	for _, id := range sweeps {
		err := s.o.Master.Pause(context.WithoutCancel(ctx), id, "interrupted", true)
		if _, ended := errors.AsType[*core.WrongState](err); err != nil && !ended {
			s.o.Log.Warn("the sweep cannot be interrupted", "sweep", id, "error", err)
		}
		if kill {
			s.o.Attachments.Kill(id)
		}
	}
}

// attach keeps a client attached until its connection ends.
func (s *Server) attach(w http.ResponseWriter, r *http.Request) (any, error) {
	a := s.o.Attachments
	switch {
	case a == nil:
		return nil, &api.Error{Status: http.StatusNotFound,
			Text: "clients attach to a local run only"}
	case r.Header.Get("Upgrade") != api.AttachmentProtocol:
		return nil, &api.Error{Status: http.StatusBadRequest,
			Text: "missing header Upgrade: " + api.AttachmentProtocol}
	}
	id, ok := a.begin()
	if !ok {
		return nil, &api.Error{Status: http.StatusServiceUnavailable,
			Text: "the runner of this folder is about to end"}
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		a.end(id)
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(r.Context(), func() { _ = conn.Close() })()
	a.welcome(id, conn)
	// not the request's own reader: that ends the context of the request with the connection
	if s.serveAttachment(r.Context(), bufio.NewReader(conn)) {
		if a.leave(id, conn) {
			<-r.Context().Done() // the end of the server tells the client that of the run
		}
		return nil, nil
	}
	if sweeps := a.end(id); r.Context().Err() == nil { // else this server ends
		s.interrupt(r.Context(), false, sweeps...)
	}
	return nil, nil
}

// serveAttachment does what a client asks for on its connection, and reports whether it left.
func (s *Server) serveAttachment(ctx context.Context, in *bufio.Reader) (left bool) {
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return false
		}
		switch verb, sweep, _ := strings.Cut(strings.TrimSpace(line), " "); verb {
		case api.Interrupt, api.Kill:
			s.interrupt(ctx, verb == api.Kill, sweep)
		case api.Leave:
			return true
		}
	}
}
