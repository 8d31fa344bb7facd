package server

import (
	"context"
	"net/http"

	"mlframework/sweep/api"
	"mlframework/sweep/human"
	"mlframework/sweep/queue"
)

// defaultDeadLetters is how many dead letters are listed by default, and maxDeadLetters how many at
// most.
const (
	defaultDeadLetters = 20
	maxDeadLetters     = 1000
)

// depths are what waits on the broker; nil when that cannot be asked now.
func (s *Server) depths(r *http.Request) []queue.Depth {
	ctx, cancel := context.WithTimeout(r.Context(), readyTime)
	defer cancel()
	all, err := s.o.Master.Depths(ctx)
	if err != nil {
		return nil
	}
	return append([]queue.Depth{}, all...)
}

func (s *Server) listDead(_ http.ResponseWriter, r *http.Request) (any, error) {
	limit, err := number(r.URL.Query(), "limit")
	if err != nil {
		return nil, err
	}
	if limit == 0 {
		limit = defaultDeadLetters
	}
	ctx, cancel := withTimeout(r)
	defer cancel()
	count, newest, err := s.o.Master.DeadLetters(ctx, int(min(limit, maxDeadLetters)))
	if err != nil {
		return nil, err
	}
	listed := api.DeadLetters{Count: count, Entries: []api.DeadLetter{}}
	for _, l := range newest {
		listed.Entries = append(listed.Entries,
			api.DeadLetter{ID: l.ID, From: human.Visible(l.Queue),
				Reason: human.Visible(l.Reason), Time: timeOrNull(l.Time),
				Bytes: l.Size, Preview: human.Visible(string(l.Body))})
	}
	return listed, nil
}

func (s *Server) requeue(_ http.ResponseWriter, r *http.Request) (any, error) {
	requeued, remaining, err := s.o.Master.Requeue(r.Context(), r.PathValue("letter"))
	return api.DeadLetterOutcome{Requeued: requeued, Remaining: remaining}, err
}

func (s *Server) drop(_ http.ResponseWriter, r *http.Request) (any, error) {
	n, err := s.o.Master.Drop(r.Context(), r.PathValue("letter"))
	return api.DeadLetterOutcome{Dropped: n}, err
}
