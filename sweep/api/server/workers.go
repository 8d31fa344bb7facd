package server

import (
	"fmt"
	"net/http"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
)

func (s *Server) listWorkers(_ http.ResponseWriter, r *http.Request) (any, error) {
	ctx, cancel := withTimeout(r)
	defer cancel()
	all, err := s.o.Master.Workers(ctx)
	return api.WorkerList{Workers: append([]core.Worker{}, all...)}, err
}

func (s *Server) drain(_ http.ResponseWriter, r *http.Request) (any, error) {
	return s.setDrained(r, false)
}

func (s *Server) undrain(_ http.ResponseWriter, r *http.Request) (any, error) {
	return s.setDrained(r, true)
}

func (s *Server) setDrained(r *http.Request, off bool) (any, error) {
	reason := r.URL.Query().Get("for")
	if reason != "" && reason != core.ForReplacement {
		return nil, api.Wrong("for", "a worker is drained for "+core.ForReplacement+
			", or by a person, without this parameter")
	}
	return s.o.Master.Drain(r.Context(),
		core.DrainWorker{Worker: r.PathValue("worker"), Off: off, For: reason})
}

// maxSlots bounds what a worker can be asked for: far more than any machine has cores.
const maxSlots = 4096

func (s *Server) resize(_ http.ResponseWriter, r *http.Request) (any, error) {
	n, err := number(r.URL.Query(), "n")
	switch {
	case err != nil:
		return nil, err
	case !r.URL.Query().Has("n"):
		return nil, api.Wrong("n",
			"missing: send a number of slots; 0 is what the worker was started with")
	case n > maxSlots:
		return nil, api.Wrong("n", fmt.Sprintf("a worker has at most %d slots", maxSlots))
	}
	return s.o.Master.Resize(r.Context(), r.PathValue("worker"), int(n))
}

func (s *Server) restart(_ http.ResponseWriter, r *http.Request) (any, error) {
	now, err := flag(r.URL.Query(), "now")
	if err != nil {
		return nil, err
	}
	return s.o.Master.Restart(r.Context(), r.PathValue("worker"), now)
}

func (s *Server) forget(_ http.ResponseWriter, r *http.Request) (any, error) {
	return nil, s.o.Master.Forget(r.Context(), r.PathValue("worker"))
}
