package server

import (
	"net/http"

	"mlframework/sweep/api"
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
