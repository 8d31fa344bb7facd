package api

import (
	"context"
	"net/url"
	"time"
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
	Limit  int    // 0: as many as a page holds, which are query.MostActions
}

// Audit returns a page of what people did.
func (c *Client) Audit(ctx context.Context, q AuditQuery) (page Actions, err error) {
	v := url.Values{}
	set(v, "object", q.Object)
	set(v, "after", q.After)
	setNumber(v, "limit", q.Limit)
	return page, c.get(ctx, "/audit", v, &page)
}
