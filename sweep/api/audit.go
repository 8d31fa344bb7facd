package api

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"mlframework/sweep/human"
	"mlframework/sweep/master"
	"mlframework/sweep/store"
)

// Action is what a person did or asked for in vain.
type Action struct {
	ID      int64     `json:"id"` // a later one is greater
	Time    time.Time `json:"time"`
	UID     *int      `json:"uid"`  // of the user on the master's machine, as its kernel tells; null: not known
	User    string    `json:"user"` // the name that the client declared; "": none
	Action  string    `json:"action"`
	Kind    string    `json:"kind"`    // of the object: sweep, task, worker, letter
	Object  string    `json:"object"`  // its id or name; "": all of them, or a sweep that was not made
	Detail  string    `json:"detail"`  // what else was asked: "n=4"
	Outcome string    `json:"outcome"` // done, refused or failed
	Reason  *string   `json:"reason"`  // of what was not done
}

// Actions is a page of what people did.
type Actions struct {
	Actions []Action `json:"actions"` // the newest first
	Next    string   `json:"next,omitempty"`
}

// AuditQuery chooses actions. The zero value is the newest of all.
type AuditQuery struct {
	Object string // a sweep with its tasks, a task, a worker; "": everything
	After  string // the Next of the page before
	Limit  int    // 0: as many as a page holds, which are mostActions
}

// mostActions is how many actions a page holds.
const mostActions = 1000

// Audit reads what people did, the newest first.
func (a *Archive) Audit(ctx context.Context, q AuditQuery) (page Actions, err error) {
	before := int64(0)
	if q.After != "" {
		if before, err = whole(q.After); err != nil || before < 1 {
			return page, wrong("after", "it is no place in the record: take the `next` of the page before")
		}
	}
	limit := mostActions
	if q.Limit > 0 {
		limit = min(limit, q.Limit)
	}
	deeds, err := a.Store.Audit(ctx, q.Object, before, limit+1)
	if err != nil {
		return page, err
	}
	if len(deeds) > limit {
		deeds = deeds[:limit]
		page.Next = strconv.FormatInt(deeds[limit-1].ID, 10)
	}
	page.Actions = []Action{}
	for _, d := range deeds {
		page.Actions = append(page.Actions, newAction(d))
	}
	return page, nil
}

func newAction(d store.Deed) Action {
	a := Action{ID: d.ID, Time: d.Time, User: d.User, Action: d.Action, Kind: d.Kind, Object: d.Object, Detail: d.Detail, Outcome: d.Outcome}
	if d.UID >= 0 {
		a.UID = &d.UID
	}
	if d.Reason != "" {
		a.Reason = &d.Reason
	}
	return a
}

func (s *Server) audit(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	limit, err := number(q, "limit")
	if err != nil {
		return err
	}
	page, err := s.archive.Audit(r.Context(), AuditQuery{Object: q.Get("object"), After: q.Get("after"), Limit: int(min(limit, mostActions))})
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, page)
	return nil
}

// Audit is as Archive.Audit.
func (c *Client) Audit(ctx context.Context, q AuditQuery) (page Actions, err error) {
	v := url.Values{}
	set(v, "object", q.Object)
	set(v, "after", q.After)
	setNumber(v, "limit", q.Limit)
	return page, c.get(ctx, "/audit", v, &page)
}

// longestDetail bounds what a client can write into the record with one action, in bytes.
const longestDetail = 256

// deed is what a request is about to do. The name is what the client says; the uid is the kernel's word.
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
		s.o.Log.Error("an action is not in the record", "action", d.Action, "object", d.Object, "error", err)
	}
}
