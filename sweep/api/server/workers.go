package server

import (
	"fmt"
	"net/http"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
)

func (s *Server) listWorkers(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := withTimeout(r)
	defer cancel()
	all, err := s.o.Master.Workers(ctx)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, api.WorkerList{Workers: append([]core.Worker{}, all...)})
	return nil
}

func (s *Server) drain(w http.ResponseWriter, r *http.Request) error {
	return s.draining(w, r, false)
}

func (s *Server) undrain(w http.ResponseWriter, r *http.Request) error {
	return s.draining(w, r, true)
}

func (s *Server) draining(w http.ResponseWriter, r *http.Request, off bool) error {
	ctx, cancel := withTimeout(r)
	defer cancel()
	worker, err := s.o.Master.Drain(ctx, r.PathValue("worker"), off)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, worker)
	return nil
}

// maxSlots bounds what a worker can be asked for: far more than any machine has cores.
const maxSlots = 4096

func (s *Server) resize(w http.ResponseWriter, r *http.Request) error {
	n, err := number(r.URL.Query(), "n")
	switch {
	case err != nil:
		return err
	case !r.URL.Query().Has("n"):
		return api.Wrong("n", "how many slots? 0 is what the worker was started with")
	case n > maxSlots:
		return api.Wrong("n", fmt.Sprintf("a worker has at most %d slots", maxSlots))
	}
	ctx, cancel := withTimeout(r)
	defer cancel()
	worker, err := s.o.Master.Resize(ctx, r.PathValue("worker"), int(n))
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, worker)
	return nil
}

func (s *Server) restart(w http.ResponseWriter, r *http.Request) error {
	now, err := flag(r.URL.Query(), "now")
	if err != nil {
		return err
	}
	ctx, cancel := withTimeout(r)
	defer cancel()
	worker, err := s.o.Master.Restart(ctx, r.PathValue("worker"), now)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, worker)
	return nil
}

func (s *Server) forget(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := withTimeout(r)
	defer cancel()
	if err := s.o.Master.Forget(ctx, r.PathValue("worker")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
