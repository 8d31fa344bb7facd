package server

import (
	"context"
	"net/http"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
)

func (s *Server) listSweeps(_ http.ResponseWriter, r *http.Request) (any, error) {
	limit, err := number(r.URL.Query(), "limit")
	if err != nil {
		return nil, err
	}
	all, err := s.archive.Sweeps(r.Context(), r.URL.Query().Get("after"), int(limit))
	if err != nil {
		return nil, err
	}
	return api.SweepList{Sweeps: append([]core.Summary{}, all...)}, nil
}

func (s *Server) showSweep(_ http.ResponseWriter, r *http.Request) (any, error) {
	checks, err := flag(r.URL.Query(), "checks")
	if err != nil {
		return nil, err
	}
	return s.archive.Sweep(r.Context(), r.PathValue("sweep"), checks)
}

func (s *Server) missing(_ http.ResponseWriter, r *http.Request) (any, error) {
	submission, err := readSubmission(r)
	if err != nil {
		return nil, err
	}
	if submission.Record.Images, err = s.images(r.Context()); err != nil {
		return nil, err
	}
	m, err := s.archive.Missing(r.Context(), submission.Record, submission.Code, submission.Same...)
	if err != nil {
		return nil, err
	}
	if m.Ranges == nil {
		m.Ranges = core.Ranges{}
	}
	return m, nil
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

func (s *Server) listTasks(_ http.ResponseWriter, r *http.Request) (any, error) {
	q, err := readQuery(r.URL.Query())
	if err != nil {
		return nil, err
	}
	return s.archive.Tasks(r.Context(), r.PathValue("sweep"), q)
}

func (s *Server) listAllTasks(_ http.ResponseWriter, r *http.Request) (any, error) {
	q, err := readQuery(r.URL.Query())
	if err != nil {
		return nil, err
	}
	return s.archive.AllTasks(r.Context(), q)
}

func (s *Server) showTask(_ http.ResponseWriter, r *http.Request) (any, error) {
	index, err := taskIndex(r)
	if err != nil {
		return nil, err
	}
	return s.archive.Task(r.Context(), r.PathValue("sweep"), index)
}

// results writes the table while it reads it: what is wrong with the query shows before the first
// byte.
func (s *Server) results(w http.ResponseWriter, r *http.Request) (any, error) {
	q, err := readQuery(r.URL.Query())
	if err != nil {
		return nil, err
	}
	format := api.Format(r.URL.Query().Get("format"))
	w.Header().Set("Content-Type",
		map[api.Format]string{api.CSV: "text/csv; charset=utf-8"}[format])
	if format != api.CSV {
		w.Header().Set("Content-Type", "application/x-ndjson")
	}
	return nil, s.archive.Results(r.Context(), r.PathValue("sweep"), q, format, w)
}

func (s *Server) failures(_ http.ResponseWriter, r *http.Request) (any, error) {
	return s.archive.Failures(r.Context(), r.PathValue("sweep"))
}

func (s *Server) allFailures(_ http.ResponseWriter, r *http.Request) (any, error) {
	seconds, err := number(r.URL.Query(), "within")
	if err != nil {
		return nil, err
	}
	since := time.Time{}
	if r.URL.Query().Has("within") {
		since = time.Now().Add(-time.Duration(min(seconds, maxWithin)) * time.Second)
	}
	return s.archive.AllFailures(r.Context(), since)
}

// maxWithin bounds how far back failures are asked for, in seconds: a century.
const maxWithin = 100 * 365 * 24 * 3600

func (s *Server) effects(_ http.ResponseWriter, r *http.Request) (any, error) {
	return s.archive.Effects(r.Context(), r.PathValue("sweep"), plotQuery(r))
}

func (s *Server) progress(_ http.ResponseWriter, r *http.Request) (any, error) {
	return s.archive.Progress(r.Context(), r.PathValue("sweep"), plotQuery(r))
}

func (s *Server) curves(_ http.ResponseWriter, r *http.Request) (any, error) {
	return s.archive.Curves(r.Context(), r.PathValue("sweep"), plotQuery(r))
}

func (s *Server) points(_ http.ResponseWriter, r *http.Request) (any, error) {
	return s.archive.Points(r.Context(), r.PathValue("sweep"), plotQuery(r))
}

func plotQuery(r *http.Request) api.PlotQuery {
	v := r.URL.Query()
	return api.PlotQuery{Metric: v.Get("metric"), Where: v.Get("where")}
}
