package server

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/master"
	"mlframework/sweep/task"
)

func (s *Server) submit(w http.ResponseWriter, r *http.Request) (any, error) {
	submission, err := readSubmission(r)
	if err != nil {
		return nil, err
	}
	follow, err := readFollow(r)
	if err != nil {
		return nil, err
	}
	id, err := s.submitFollowed(r.Context(), w, master.Submission{Submission: submission,
		IdempotencyKey: r.Header.Get(api.KeyHeader)}, follow)
	if err != nil {
		return nil, err
	}
	if err := s.attached(r, id); err != nil {
		return nil, err
	}
	w.Header().Set("Location", api.Root+"/sweeps/"+url.PathEscape(id))
	return s.archive.Summary(r.Context(), id)
}

// submitFollowed submits a sweep, and begins to collect its events, from the first, for a client
// that is about to follow it; "": it is not.
func (s *Server) submitFollowed(ctx context.Context, w http.ResponseWriter,
	submission master.Submission, follow api.Detail) (id string, err error) {
	if follow == "" {
		return s.o.Master.Submit(ctx, submission)
	}
	id, watcher, stop, err := s.o.Master.SubmitWatched(ctx, submission, follow)
	if err != nil {
		return "", err
	}
	f, leave, err := s.buffers.adopt(ctx, id, follow, watcher, stop)
	if err != nil {
		return "", err
	}
	defer leave() // the buffer is kept for a while
	w.Header().Set(api.EventHeader, f.id(beforeFirst, time.Time{}))
	return id, nil
}

// prepareFollow begins to collect events for a client that is about to follow, so that it misses
// nothing of what begins now: it goes on from the id that it is given.
func (s *Server) prepareFollow(ctx context.Context, w http.ResponseWriter, id string,
	follow api.Detail) error {
	if follow == "" {
		return nil
	}
	f, leave, err := s.buffers.join(ctx, id, follow)
	if err != nil {
		return err
	}
	defer leave() // the buffer is kept for a while
	w.Header().Set(api.EventHeader, f.id(f.end(), time.Now()))
	return nil
}

// changeSweep changes a sweep, for a client that is about to follow it in some detail or not (""),
// and returns its summary.
func (s *Server) changeSweep(w http.ResponseWriter, r *http.Request, follow api.Detail,
	do func(ctx context.Context, id string) error) (any, error) {
	named, err := s.archive.Stored(r.Context(), r.PathValue("sweep"))
	if err == nil {
		err = s.prepareFollow(r.Context(), w, named.Head.ID, follow)
	}
	if err != nil {
		return nil, err
	}
	if err := do(r.Context(), named.Head.ID); err != nil {
		return nil, err
	}
	return s.archive.Summary(r.Context(), named.Head.ID)
}

// runSweep is changeSweep for what lets a sweep run, which becomes one of the client that is
// attached.
func (s *Server) runSweep(w http.ResponseWriter, r *http.Request, follow api.Detail,
	do func(ctx context.Context, id string) error) (any, error) {
	return s.changeSweep(w, r, follow, func(ctx context.Context, id string) error {
		if err := do(ctx, id); err != nil {
			return err
		}
		return s.attached(r, id)
	})
}

func (s *Server) cancel(w http.ResponseWriter, r *http.Request) (any, error) {
	var by api.Selection
	if err := read(r, &by); err != nil {
		return nil, err
	}
	if err := checkSelection(r, by); err != nil {
		return nil, err
	}
	return s.changeSweep(w, r, "", func(ctx context.Context, id string) error {
		if by.Where != "" {
			return s.o.Master.CancelTasks(ctx, id, by, "cancelled by a person")
		}
		return s.o.Master.Cancel(ctx, id, "cancelled by a person")
	})
}

func (s *Server) pause(w http.ResponseWriter, r *http.Request) (any, error) {
	stop, err := flag(r.URL.Query(), "stop")
	if err != nil {
		return nil, err
	}
	return s.changeSweep(w, r, "", func(ctx context.Context, id string) error {
		return s.o.Master.Pause(ctx, id, "paused by a person", stop)
	})
}

func (s *Server) resume(w http.ResponseWriter, r *http.Request) (any, error) {
	g, follow, err := readResume(r)
	if err == nil && len(g.Indexes) > 0 {
		err = api.Wrong("indexes", "a sweep is resumed as a whole")
	}
	if err == nil && g.Where != "" {
		err = api.Wrong("where", "a sweep is resumed as a whole")
	}
	if err == nil && g.Fresh {
		err = api.Wrong("fresh", "only retry can start tasks in new folders")
	}
	if err != nil {
		return nil, err
	}
	return s.runSweep(w, r, follow, func(ctx context.Context, id string) error {
		return s.o.Master.Resume(ctx, id, g.Continuation)
	})
}

func (s *Server) retry(w http.ResponseWriter, r *http.Request) (any, error) {
	g, follow, err := readResume(r)
	if err != nil {
		return nil, err
	}
	return s.runSweep(w, r, follow, func(ctx context.Context, id string) error {
		if g.Where != "" {
			return s.o.Master.RetryWhere(ctx, id, g.Selection, g.Fresh, g.Continuation)
		}
		return s.o.Master.Retry(ctx, id, g.Indexes, g.Fresh, g.Continuation)
	})
}

func readResume(r *http.Request) (g api.ResumeRequest, follow api.Detail, err error) {
	if err := read(r, &g); err != nil {
		return g, "", err
	}
	if slices.ContainsFunc(g.Indexes, func(i int64) bool { return i < 0 }) {
		return g, "", api.Wrong("indexes", "an index is negative")
	}
	if len(g.Indexes) > 0 && g.Where != "" {
		return g, "", api.Wrong("where", "mutually exclusive with indexes")
	}
	if err := checkSelection(r, g.Selection); err != nil {
		return g, "", err
	}
	if err := checkSteering(r.Context(), g.Continuation); err != nil {
		return g, "", err
	}
	if err := checkContinuation(g.Continuation); err != nil {
		return g, "", err
	}
	if g.Revision != "" {
		addDetail(r, "revision="+g.Revision)
	}
	if len(g.Indexes) > 0 {
		addDetail(r, fmt.Sprintf("tasks=%d", len(g.Indexes)))
	}
	if g.Fresh {
		addDetail(r, "fresh")
	}
	follow, err = readFollow(r)
	return g, follow, err
}

// checkSelection refuses a number of tasks without a filter, and notes the filter in the audit.
func checkSelection(r *http.Request, by api.Selection) error {
	switch {
	case by.AtMost != nil && by.Where == "":
		return api.Wrong(api.AtMostParameter, "it needs where")
	case by.AtMost != nil && *by.AtMost < 0:
		return api.Wrong(api.AtMostParameter, "it must not be negative")
	case by.Where != "":
		addDetail(r, "where="+string(by.Where))
	}
	return nil
}

func (s *Server) cancelTask(w http.ResponseWriter, r *http.Request) (any, error) {
	index, err := taskIndex(r)
	if err != nil {
		return nil, err
	}
	return s.changeSweep(w, r, "", func(ctx context.Context, id string) error {
		return s.o.Master.CancelTask(ctx, task.ID{Sweep: id, Index: index},
			"cancelled by a person")
	})
}

func (s *Server) extend(w http.ResponseWriter, r *http.Request) (any, error) {
	var e api.Extension
	if err := read(r, &e); err != nil {
		return nil, err
	}
	follow, err := readFollow(r)
	if err == nil {
		err = checkContinuation(e.Continuation)
	}
	if err == nil && e.Space == nil {
		err = api.Wrong("space", "missing: send the space of the parameters as they are now")
	}
	if err != nil {
		return nil, err
	}
	if e.Revision != "" {
		addDetail(r, "revision="+e.Revision)
	}
	return s.runSweep(w, r, follow, func(ctx context.Context, id string) error {
		return s.o.Master.Extend(ctx, id, e)
	})
}

// priorityRule says what a priority can be.
var priorityRule = fmt.Sprintf("a priority is a whole number from -%d to %[1]d", core.MaxPriority)

func badPriority(n int) bool { return n < -core.MaxPriority || n > core.MaxPriority }

func (s *Server) prioritize(w http.ResponseWriter, r *http.Request) (any, error) {
	text := r.URL.Query().Get("n")
	n, err := api.ParseWholeNumber(text)
	if err != nil || badPriority(int(n)) {
		return nil, api.Wrong("n", priorityRule+", not "+cmp.Or(human.Visible(text), "nothing"))
	}
	return s.changeSweep(w, r, "", func(ctx context.Context, id string) error {
		return s.o.Master.Prioritize(ctx, id, int(n))
	})
}
