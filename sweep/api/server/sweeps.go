package server

import (
	"context"
	"net/http"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
)

func (s *Server) listSweeps(w http.ResponseWriter, r *http.Request) error {
	limit, err := number(r.URL.Query(), "limit")
	if err != nil {
		return err
	}
	all, err := s.archive.Sweeps(r.Context(), r.URL.Query().Get("after"), int(limit))
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, api.SweepList{Sweeps: append([]core.Summary{}, all...)})
	return nil
}

func (s *Server) showSweep(w http.ResponseWriter, r *http.Request) error {
	checks, err := flag(r.URL.Query(), "checks")
	if err != nil {
		return err
	}
	view, err := s.archive.Sweep(r.Context(), r.PathValue("sweep"), checks)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, view)
	return nil
}

func (s *Server) missing(w http.ResponseWriter, r *http.Request) error {
	submission, err := readSubmission(r)
	if err != nil {
		return err
	}
	if submission.Record.Images, err = s.images(r.Context()); err != nil {
		return err
	}
	m, err := s.archive.Missing(r.Context(), submission.Record, submission.Code, submission.Same...)
	if err != nil {
		return err
	}
	if m.Ranges == nil {
		m.Ranges = core.Ranges{}
	}
	writeJSON(w, http.StatusOK, m)
	return nil
}

// images are those in which tasks would run now: of the workers that are there.
func (s *Server) images(ctx context.Context) (images core.Images, err error) {
	workers, err := s.o.Master.Workers(ctx)
	var r core.Record
	for _, w := range workers {
		if w.Image != nil && w.State != core.WorkerAway {
			r, _ = r.RanIn(*w.Image, w.Name)
		}
	}
	return r.Images, err
}

func (s *Server) listTasks(w http.ResponseWriter, r *http.Request) error {
	q, err := readQuery(r.URL.Query())
	if err != nil {
		return err
	}
	page, err := s.archive.Tasks(r.Context(), r.PathValue("sweep"), q)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, page)
	return nil
}

func (s *Server) listAllTasks(w http.ResponseWriter, r *http.Request) error {
	q, err := readQuery(r.URL.Query())
	if err != nil {
		return err
	}
	page, err := s.archive.AllTasks(r.Context(), q)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, page)
	return nil
}

func (s *Server) showTask(w http.ResponseWriter, r *http.Request) error {
	index, err := taskIndex(r)
	if err != nil {
		return err
	}
	view, err := s.archive.Task(r.Context(), r.PathValue("sweep"), index)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, view)
	return nil
}

// results writes the table while it reads it: what is wrong with the query shows before the first
// byte.
func (s *Server) results(w http.ResponseWriter, r *http.Request) error {
	q, err := readQuery(r.URL.Query())
	if err != nil {
		return err
	}
	format := api.Format(r.URL.Query().Get("format"))
	w.Header().Set("Content-Type",
		map[api.Format]string{api.CSV: "text/csv; charset=utf-8"}[format])
	if format != api.CSV {
		w.Header().Set("Content-Type", "application/x-ndjson")
	}
	return s.archive.Results(r.Context(), r.PathValue("sweep"), q, format, w)
}

func (s *Server) failures(w http.ResponseWriter, r *http.Request) error {
	f, err := s.archive.Failures(r.Context(), r.PathValue("sweep"))
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, f)
	return nil
}
