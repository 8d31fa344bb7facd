package server

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"mlframework/sweep/api"
	"mlframework/sweep/human"
	"mlframework/sweep/master"
	"mlframework/sweep/query"
	"mlframework/sweep/store"
)

func (s *Server) audit(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	limit, err := number(q, "limit")
	if err != nil {
		return err
	}
	page, err := s.archive.Audit(r.Context(), api.AuditQuery{Object: q.Get("object"),
		After: q.Get("after"), Limit: int(min(limit, query.MostActions))})
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, page)
	return nil
}

// longestDetail bounds what a client can write into the record with one action, in bytes.
const longestDetail = 256

// deed is what a request is about to do. The name is what the client says; the uid is the kernel's
// word.
func (ro route) deed(r *http.Request) *master.Deed {
	d := &master.Deed{Deed: store.Deed{UID: -1, User: declared(r), Action: ro.action}}
	if p, ok := r.Context().Value(peerKey{}).(peer); ok && p.known {
		d.UID = p.uid
	}
	switch {
	case r.PathValue("index") != "":
		d.Kind, d.Object = "task", r.PathValue("sweep")+"/"+r.PathValue("index")
	case strings.HasPrefix(ro.path, "/sweeps"):
		d.Kind, d.Object = "sweep", r.PathValue("sweep")
	case strings.HasPrefix(ro.path, "/workers"):
		d.Kind, d.Object = "worker", r.PathValue("worker")
	default:
		d.Kind, d.Object = "letter", r.PathValue("letter")
	}
	for _, name := range ro.query {
		if value := r.URL.Query().Get(name); value != "" && !slices.Contains(following, name) {
			d.Detail = bounded(name+"="+value, longestDetail)
		}
	}
	d.Object = bounded(d.Object, longestDetail)
	return d
}

// declared is the name that the client says.
func declared(r *http.Request) string { return bounded(r.Header.Get("User"), longestUser) }

func bounded(text string, most int) string { return human.Visible(text[:min(len(text), most)]) }

// detail adds to what is recorded of a request.
func detail(r *http.Request, text string) {
	if d := master.DeedOf(r.Context()); d != nil {
		d.Detail = bounded(strings.TrimSpace(d.Detail+" "+text), longestDetail)
	}
}

// judge notes how a request ended of which no call of the master did.
func judge(r *http.Request, err error) {
	d := master.DeedOf(r.Context())
	if d == nil || d.Kept {
		return
	}
	switch {
	case err == nil:
		d.End(master.DeedDone, "")
	case problem(err).Status < http.StatusInternalServerError:
		d.End(master.DeedRefused, problem(err).Text)
	default:
		d.End(master.DeedFailed, problem(err).Text)
	}
}

// keepDeed brings what was done into the record, if the call that did it has not.
func (s *Server) keepDeed(r *http.Request) {
	d := master.DeedOf(r.Context())
	if d.Kept {
		return
	}
	d.End(master.DeedFailed, "fault in the master's API") // it panicked
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), answerTime)
	defer cancel()
	if err := s.o.Master.Record(ctx, d); err != nil {
		s.o.Log.Error("an action is not in the record", "action", d.Action, "object", d.Object,
			"error", err)
	}
}
