package server

import (
	"net/http"
	"net/url"

	"mlframework/sweep/api"
	"mlframework/sweep/group"
)

func (s *Server) groups(_ http.ResponseWriter, r *http.Request) (any, error) {
	q, err := readGroupQuery(r.URL.Query())
	if err != nil {
		return nil, err
	}
	return s.archive.Groups(r.Context(), r.PathValue("sweep"), q)
}

func readGroupQuery(v url.Values) (q api.GroupQuery, err error) {
	if q.Query, err = readQuery(v); err != nil {
		return q, err
	}
	if v.Has("by") {
		if q.By, err = group.Names(v.Get("by")); err != nil {
			return q, api.Wrong("by", err.Error())
		}
	}
	if q.Metrics, err = group.Names(v.Get("of")); err != nil {
		return q, api.Wrong("of", err.Error())
	}
	return q, nil
}
