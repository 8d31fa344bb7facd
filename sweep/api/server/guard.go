package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"

	"mlframework/sweep/api"
	"mlframework/sweep/master"
)

// guard is what every request passes before and after its route: parameters, client keys, panics, the record.
func (s *Server) guard(r route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request.Method != r.method { // the mux takes HEAD for GET
			s.nowhere(w, request)
			return
		}
		if err := permits(request.Context(), r); err != nil {
			refuse(w, err)
			return
		}
		out := &watched{ResponseWriter: w}
		if r.writes() {
			request = request.WithContext(master.Recorded(request.Context(), r.deed(request)))
			defer s.keepDeed(request)
			defer s.record(out, request)
		}
		defer s.recover(out, request)
		if err := r.knows(request.URL.Query()); err != nil {
			judge(request, err)
			refuse(out, err)
			return
		}
		err := s.once(out, request, r)
		if judge(request, err); err != nil && !out.begun() {
			refuse(out, err)
		} else if err != nil {
			panic(http.ErrAbortHandler) // the client must not take what it has for whole
		}
	})
}

// recover makes a panic of one request its answer.
func (s *Server) recover(w *watched, r *http.Request) {
	value := recover()
	switch {
	case value == nil:
		return
	case value == http.ErrAbortHandler:
		panic(value)
	}
	s.o.Log.Error("fault in the API; it goes on", "method", r.Method, "path", r.URL.Path, "fault", value, "stack", string(debug.Stack()))
	if w.begun() {
		panic(http.ErrAbortHandler)
	}
	refuse(w, &api.Error{Status: http.StatusInternalServerError,
		Text: fmt.Sprintf("fault in the master's API: %v", value), Remedy: "its log has the place"})
}

// longestUser bounds the name that a client declares, in bytes.
const longestUser = 128

// record keeps who did what, on what, and how it ended. The name is what the client says; the uid is the kernel's word.
func (s *Server) record(w *watched, r *http.Request) {
	what := r.Method + " " + strings.TrimPrefix(r.URL.EscapedPath(), api.Root)
	if r.URL.RawQuery != "" {
		what += "?" + r.URL.RawQuery
	}
	attributes := []slog.Attr{slog.String("user", declared(r)), slog.String("what", what), slog.Int("status", w.status)}
	if on := w.Header().Get("Location"); on != "" {
		attributes = append(attributes, slog.String("on", strings.TrimPrefix(on, api.Root)))
	}
	if p, ok := r.Context().Value(peerKey{}).(peer); ok && p.known {
		attributes = append(attributes, slog.Int("uid", p.uid))
	}
	s.o.Audit.LogAttrs(context.WithoutCancel(r.Context()), slog.LevelInfo, "action", attributes...)
}

// watched notes the status of an answer.
type watched struct {
	http.ResponseWriter
	status int // 0: nothing was written
}

func (w *watched) begun() bool { return w.status != 0 }

// Unwrap lets http.ResponseController find what can flush.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *watched) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *watched) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}
