package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"mlframework/sweep/api"
)

// Bounds of what requests may hold in memory. A body is there several times over while it is read
// and checked.
const (
	maxBody     = 16 << 20 // bytes of a request's body: a space is never expanded
	smallBody   = 64 << 10 // bytes of one that is not counted
	largeBodies = 4        // larger ones at once
	bodyWait    = 5 * time.Second
)

// bodies reads the bodies of requests, a few large ones at once.
type bodies struct {
	most  int64         // bytes of one
	large chan struct{} // one for each that is there
	wait  time.Duration // for another to go
}

// newBodies returns the bodies of a server that reads at most so many bytes of each; 0: maxBody.
func newBodies(most int64) bodies {
	return bodies{cmp.Or(most, maxBody), make(chan struct{}, largeBodies), bodyWait}
}

// read reads a request's body. Done is to be called once that is not needed any more.
func (b bodies) read(w http.ResponseWriter, r *http.Request) (body []byte, done func(), err error) {
	from := http.MaxBytesReader(w, r.Body, b.most)
	body, err = io.ReadAll(io.LimitReader(from, smallBody))
	if err != nil {
		return nil, nil, b.tooLong()
	}
	if len(body) < smallBody {
		return body, func() {}, nil
	}
	timer := time.NewTimer(b.wait)
	defer timer.Stop()
	select {
	case b.large <- struct{}{}:
		done = func() { <-b.large }
	case <-r.Context().Done():
		return nil, nil, r.Context().Err()
	case <-timer.C:
		_, _ = io.Copy(io.Discard, from) // so that the client reads the answer
		w.Header().Set("Retry-After", "1")
		return nil, nil, &api.Error{Status: http.StatusServiceUnavailable,
			Text: "the master has too many large requests at once", Remedy: "try again in a moment"}
	}
	rest, err := io.ReadAll(from)
	if err != nil {
		done()
		return nil, nil, b.tooLong()
	}
	return append(body, rest...), done, nil
}

func (b bodies) tooLong() error {
	return &api.Error{Status: http.StatusRequestEntityTooLarge, Text: fmt.Sprintf(
		"the request is longer than %d MiB, or was cut off", b.most>>20)}
}

// readBody puts the body of a request into memory; done is to be called at the end.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, to route) (done func(),
	err error) {
	body, done, err := s.bodies.read(w, r)
	if err != nil {
		return nil, err
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	if len(body) > 0 && to.body != nil && !isJSON(r) {
		done()
		return nil, &api.Error{Status: http.StatusUnsupportedMediaType,
			Text:   "the body is not declared to be JSON",
			Remedy: "send it with Content-Type: application/json, or without one"}
	}
	return done, nil
}

// isJSON reports whether a body is declared to be JSON, or nothing.
func isJSON(r *http.Request) bool {
	declared := r.Header.Get("Content-Type")
	kind, _, err := mime.ParseMediaType(declared)
	return declared == "" || err == nil && kind == "application/json"
}

// read reads the JSON of a request's body, in which every field must be known. No body is the zero
// value.
func read(r *http.Request, into any) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return api.Wrong("", "the request was cut off")
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return api.Wrong("", "cannot parse the body: "+err.Error())
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return api.Wrong("", "unexpected data after the JSON of the body")
	}
	return nil
}
