package server

import (
	"cmp"
	"fmt"
	"net/http"

	"mlframework/sweep/api"
	"mlframework/sweep/internal/httpserver"
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
		out := &httpserver.Recorder{ResponseWriter: w}
		if r.writes() {
			request = request.WithContext(master.WithAudit(request.Context(), r.entry(request)))
			defer s.keepEntry(request)
		}
		defer out.Recover(s.o.Log, "the API", request, func(fault any) {
			writeError(out, &api.Error{Status: http.StatusInternalServerError,
				Text:   fmt.Sprintf("fault in the master's API: %v", fault),
				Remedy: "its log has the place"})
		})
		if err := r.knows(request.URL.Query()); err != nil {
			endEntry(request, err)
			writeError(out, err)
			return
		}
		err := s.handle(out, request, r)
		if endEntry(request, err); err != nil && !out.Begun {
			writeError(out, err)
		} else if err != nil {
			panic(http.ErrAbortHandler) // the client must not take what it has for whole
		}
	})
}

// handle does what a request asks for and writes the answer. Writes have limited time.
func (s *Server) handle(w http.ResponseWriter, r *http.Request, to route) error {
	if r.Method != http.MethodGet {
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
			e.IdempotencyKey = key
		}
	}
	if to.writes() {
		ctx, cancel := withTimeout(r)
		defer cancel()
		r = r.WithContext(ctx)
	}
	answer, err := to.do(s, w, r)
	switch {
	case err != nil:
		return err
	case answer != nil:
		writeJSON(w, cmp.Or(to.status, http.StatusOK), answer)
	case to.status != 0:
		w.WriteHeader(to.status)
	}
	return nil
}
