package server

import (
	"fmt"
	"net/http"
	"runtime/debug"

	"mlframework/sweep/api"
	"mlframework/sweep/master"
)

// middleware is what every request passes before and after its route: parameters, idempotency keys,
// panics, the audit.
func (s *Server) middleware(r route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request.Method != r.method { // the mux takes HEAD for GET
			s.notFound(w, request)
			return
		}
		if err := checkAccess(request.Context(), r); err != nil {
			writeError(w, err)
			return
		}
		out := &responseRecorder{ResponseWriter: w}
		if r.writes() {
			request = request.WithContext(master.WithAudit(request.Context(), r.entry(request)))
			defer s.keepEntry(request)
		}
		defer s.recover(out, request)
		if err := r.knows(request.URL.Query()); err != nil {
			endEntry(request, err)
			writeError(out, err)
			return
		}
		err := s.handle(out, request, r)
		if endEntry(request, err); err != nil && !out.begun {
			writeError(out, err)
		} else if err != nil {
			panic(http.ErrAbortHandler) // the client must not take what it has for whole
		}
	})
}

// handle does what a request asks for.
func (s *Server) handle(w http.ResponseWriter, r *http.Request, to route) error {
	if r.Method == http.MethodGet {
		return to.do(s, w, r)
	}
	done, err := s.readBody(w, r, to)
	if err != nil {
		return err
	}
	defer done()
	key, err := idempotencyKey(r)
	if err != nil {
		return err
	}
	if e := master.AuditOf(r.Context()); e != nil {
		e.ClientKey = key
	}
	return to.do(s, w, r)
}

// recover makes a panic of one request its answer.
func (s *Server) recover(w *responseRecorder, r *http.Request) {
	value := recover()
	switch {
	case value == nil:
		return
	case value == http.ErrAbortHandler:
		panic(value)
	}
	s.o.Log.Error("fault in the API; it goes on", "method", r.Method, "path", r.URL.Path,
		"fault", value, "stack", string(debug.Stack()))
	if w.begun {
		panic(http.ErrAbortHandler)
	}
	writeError(w, &api.Error{Status: http.StatusInternalServerError,
		Text: fmt.Sprintf("fault in the master's API: %v", value), Remedy: "its log has the place"})
}

// responseRecorder records whether an answer has begun.
type responseRecorder struct {
	http.ResponseWriter
	begun bool
}

// Unwrap lets http.ResponseController find what can flush.
func (w *responseRecorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *responseRecorder) WriteHeader(status int) {
	w.begun = true
	w.ResponseWriter.WriteHeader(status)
}

func (w *responseRecorder) Write(p []byte) (int, error) {
	w.begun = true
	return w.ResponseWriter.Write(p)
}
