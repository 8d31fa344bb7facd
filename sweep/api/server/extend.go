package server

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
)

func (s *Server) extend(w http.ResponseWriter, r *http.Request) error {
	var e api.Extension
	if err := read(r, &e); err != nil {
		return err
	}
	follow, err := readFollow(r)
	if err == nil {
		err = checkContinuation(e.Continuation)
	}
	if err == nil && e.Space == nil {
		err = api.Wrong("space", "by which parameters?")
	}
	if err != nil {
		return err
	}
	if e.Revision != "" {
		addDetail(r, "revision="+e.Revision)
	}
	return s.act(w, r, func(ctx context.Context, id string) error {
		if err := s.expect(ctx, w, id, follow, false); err != nil {
			return err
		}
		_, err := s.o.Master.Extend(ctx, id, e)
		return err
	})
}

// priorityRule says what a priority can be.
var priorityRule = fmt.Sprintf("a priority is a whole number from -%d to %[1]d", core.MostPriority)

func badPriority(n int) bool { return n < -core.MostPriority || n > core.MostPriority }

func (s *Server) prioritize(w http.ResponseWriter, r *http.Request) error {
	text := r.URL.Query().Get("n")
	n, err := api.ReadWhole(text)
	if err != nil || badPriority(int(n)) {
		return api.Wrong("n", priorityRule+", not "+cmp.Or(human.Visible(text), "nothing"))
	}
	return s.act(w, r, func(ctx context.Context, id string) error {
		_, err := s.o.Master.Prioritize(ctx, id, int(n))
		return err
	})
}

func (s *Server) restart(w http.ResponseWriter, r *http.Request) error {
	now, err := flag(r.URL.Query(), "now")
	if err != nil {
		return err
	}
	ctx, cancel := brief(r)
	defer cancel()
	worker, err := s.o.Master.Restart(ctx, r.PathValue("worker"), now)
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, worker)
	return nil
}
