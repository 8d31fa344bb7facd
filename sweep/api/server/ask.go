package server

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	h := api.Health{Up: true, Program: s.o.Program, Level: api.Level, Version: task.Newest,
		Warnings: []api.Reason{}}
	for _, m := range s.o.Master.Missing() {
		h.Warnings = append(h.Warnings, api.Reason{What: "store", Text: m.String(),
			Since: moment(m.Since)})
	}
	for _, r := range s.o.Master.Rivals() {
		h.Warnings = append(h.Warnings, api.Reason{What: "worker", Text: r.String(),
			Since: moment(r.Since)})
	}
	answer(w, http.StatusOK, h)
	return nil
}

// readyTime is how long the master's loop may take to show that it lives.
const readyTime = 5 * time.Second

func (s *Server) ready(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), readyTime)
	defer cancel()
	is := api.Readiness{Reasons: []api.Reason{}}
	q := s.o.Broker.Status()
	switch since := moment(q.Since); {
	case q.Away:
		is.Reasons = append(is.Reasons, api.Reason{What: "broker",
			Text: cmp.Or(q.Reason, "the broker cannot be reached"), Since: since})
	case q.Blocked != "":
		is.Reasons = append(is.Reasons, api.Reason{What: "broker", Text: q.Blocked})
	}
	if _, err := s.o.Master.Workers(ctx); err != nil { // the loop answers, so it can still write the store
		is.Reasons = append(is.Reasons, api.Reason{What: "store", Text: err.Error()})
	}
	status := http.StatusOK
	if is.Ready = len(is.Reasons) == 0; !is.Ready {
		status = http.StatusServiceUnavailable
	}
	answer(w, status, is)
	return nil
}

func (s *Server) broker(w http.ResponseWriter, r *http.Request) error {
	queues, err := flag(r.URL.Query(), "queues")
	if err != nil {
		return err
	}
	q := s.o.Broker.Status()
	b := api.Broker{Away: q.Away, Since: moment(q.Since), Reason: textOrNull(q.Reason),
		Blocked: textOrNull(q.Blocked),
		Program: textOrNull(q.Program), Revisions: textOrNull(s.o.Revisions)}
	if queues {
		b.Queues = s.depths(r)
	}
	answer(w, http.StatusOK, b)
	return nil
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	utc := t.UTC()
	return &utc
}

func textOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func (s *Server) listSweeps(w http.ResponseWriter, r *http.Request) error {
	limit, err := number(r.URL.Query(), "limit")
	if err != nil {
		return err
	}
	all, err := s.archive.Sweeps(r.Context(), r.URL.Query().Get("after"), int(limit))
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, api.SweepList{Sweeps: append([]core.Summary{}, all...)})
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
	answer(w, http.StatusOK, view)
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
	answer(w, http.StatusOK, m)
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
	answer(w, http.StatusOK, page)
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
	answer(w, http.StatusOK, page)
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
	answer(w, http.StatusOK, view)
	return nil
}

// results writes the table while it reads it: what is wrong with the query shows before the first byte.
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

// readQuery reads what all parameters of filtering and paging say; a route that lacks some has refused them.
func readQuery(v url.Values) (q api.Query, err error) {
	q = api.Query{Where: v.Get("where"), Sort: v.Get("sort"), After: v.Get("after")}
	for name := range strings.SplitSeq(v.Get("state"), ",") {
		if !v.Has("state") {
			break
		}
		state, err := task.ParseState(name)
		if err != nil {
			return q, api.Wrong("state", human.Visible(err.Error()))
		}
		q.States = append(q.States, state)
	}
	if q.Best, err = flag(v, "best"); err != nil {
		return q, err
	}
	if q.Begun, err = flag(v, "begun"); err != nil {
		return q, err
	}
	top, err := number(v, "top")
	if err != nil {
		return q, err
	}
	limit, err := number(v, "limit")
	q.Top, q.Limit = int(top), int(limit)
	return q, err
}

// flag reads a parameter that is true or false; not there is false.
func flag(v url.Values, name string) (bool, error) {
	switch text := v.Get(name); text {
	case "true":
		return true, nil
	case "false", "":
		return false, nil
	default:
		return false, api.Wrong(name, human.Visible(text)+" is neither true nor false")
	}
}

// number reads a parameter that counts; not there is 0.
func number(v url.Values, name string) (int64, error) {
	text := v.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := api.ReadWhole(text)
	if err != nil || n < 0 {
		return 0, api.Wrong(name, human.Visible(text)+" is not a whole number from 0 on")
	}
	return n, nil
}

func taskIndex(r *http.Request) (int64, error) {
	text := r.PathValue("index")
	index, err := api.ReadWhole(text)
	if err != nil || index < 0 {
		return 0, &core.UnknownTask{Sweep: r.PathValue("sweep"), Index: human.Visible(text)}
	}
	return index, nil
}
