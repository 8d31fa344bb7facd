package server

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/listing"
	"mlframework/sweep/master"
)

func (s *Server) audit(_ http.ResponseWriter, r *http.Request) (any, error) {
	q := r.URL.Query()
	limit, err := number(q, "limit")
	if err != nil {
		return nil, err
	}
	return s.archive.Audit(r.Context(), api.AuditQuery{Object: q.Get("object"),
		After: q.Get("after"), Limit: int(min(limit, listing.MostAudited))})
}

// Bounds of what a client can write into the audit with one action, in bytes.
const (
	maxUserBytes   = 128
	maxDetailBytes = 256
)

// entry returns the audit entry of a request. The name is what the client says; the uid is the
// kernel's word.
func (ro route) entry(r *http.Request) *core.AuditEntry {
	e := &core.AuditEntry{User: bounded(r.Header.Get("User"), maxUserBytes), Action: ro.action}
	if p, ok := r.Context().Value(peerKey{}).(peer); ok && p.known {
		e.UID = &p.uid
	}
	switch {
	case r.PathValue("index") != "":
		e.Kind, e.Object = "task", r.PathValue("sweep")+"/"+r.PathValue("index")
	case strings.HasPrefix(ro.path, "/sweeps"):
		e.Kind, e.Object = "sweep", r.PathValue("sweep")
	default:
		e.Kind, e.Object = "worker", r.PathValue("worker")
	}
	for _, name := range ro.query {
		if value := r.URL.Query().Get(name); value != "" && !slices.Contains(followParameter,
			name) {
			e.Detail = bounded(name+"="+value, maxDetailBytes)
		}
	}
	e.Object = bounded(e.Object, maxDetailBytes)
	return e
}

func bounded(text string, most int) string { return human.Visible(text[:min(len(text), most)]) }

// addDetail adds to the audit entry of a request.
func addDetail(r *http.Request, text string) {
	if e := master.AuditOf(r.Context()); e != nil {
		e.Detail = bounded(strings.TrimSpace(e.Detail+" "+text), maxDetailBytes)
	}
}

// endEntry notes in the audit how a request ended of which no command of the master did.
func endEntry(r *http.Request, err error) {
	e := master.AuditOf(r.Context())
	switch {
	case e == nil || !e.Time.IsZero():
	case err == nil:
		e.End(core.AuditDone, "")
	case apiError(err).Status < http.StatusInternalServerError:
		e.End(core.AuditRefused, apiError(err).Text)
	default:
		e.End(core.AuditFailed, apiError(err).Text)
	}
}

// keepEntry keeps the audit entry of a request, unless a command of the master did.
func (s *Server) keepEntry(r *http.Request) {
	e := master.AuditOf(r.Context())
	if !e.Time.IsZero() {
		return
	}
	e.End(core.AuditFailed, "fault in the master's API") // it panicked
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), answerTime)
	defer cancel()
	if err := s.o.Master.Record(ctx, e); err != nil {
		s.o.Log.Error("cannot write an audit entry", "user", e.User, "action", e.Action,
			"object", e.Object, "outcome", e.Outcome, "error", err)
	}
}
