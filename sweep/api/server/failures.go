package server

import "net/http"

func (s *Server) failures(w http.ResponseWriter, r *http.Request) error {
	f, err := s.archive.Failures(r.Context(), r.PathValue("sweep"))
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, f)
	return nil
}
