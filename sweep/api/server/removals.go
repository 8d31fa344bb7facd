package server

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
)

func (s *Server) remove(_ http.ResponseWriter, r *http.Request) (any, error) {
	id := r.PathValue("sweep")
	if id == api.Newest {
		newest, err := s.archive.Stored(r.Context(), id)
		if err != nil {
			return nil, err
		}
		id = newest.Head.ID
	}
	return nil, s.o.Master.Remove(r.Context(), id) // also again, when it is gone
}

func (s *Server) listRemovals(_ http.ResponseWriter, r *http.Request) (any, error) {
	all, err := s.o.Master.Removals(r.Context())
	return api.RemovalList{Removals: append([]api.Removal{}, all...)}, err
}

func (s *Server) prune(w http.ResponseWriter, r *http.Request) (any, error) {
	tasks, err := readTasks(r)
	if err != nil {
		return nil, err
	}
	addDetail(r, fmt.Sprintf("tasks=%d", tasks.Len()))
	return s.changeSweep(w, r, "", func(ctx context.Context, id string) error {
		return s.o.Master.Prune(ctx, id, tasks)
	})
}

func (s *Server) size(_ http.ResponseWriter, r *http.Request) (any, error) {
	tasks, err := readTasks(r)
	if err != nil {
		return nil, err
	}
	bytes, err := s.archive.Size(r.Context(), r.PathValue("sweep"), tasks)
	return api.OutputSize{Bytes: bytes}, err
}

// readTasks reads ranges of tasks. Those that hold nothing are left out.
func readTasks(r *http.Request) (core.Ranges, error) {
	var body api.PrunedTasks
	if err := read(r, &body); err != nil {
		return nil, err
	}
	switch n := len(body.Tasks); {
	case n == 0:
		return nil, api.Wrong("tasks", "missing: list ranges of indexes")
	case n > api.MostPruned:
		return nil, api.Wrong("tasks", fmt.Sprintf("at most %d ranges at a time", api.MostPruned))
	}
	empty := func(one core.Range) bool { return one.To <= one.From }
	return slices.DeleteFunc(body.Tasks, empty).Union(nil), nil
}
