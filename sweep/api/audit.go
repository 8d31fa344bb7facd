package api

import (
	"context"
	"net/url"

	"mlframework/sweep/core"
)

// AuditPage is a page of the audit.
type AuditPage struct {
	Actions []core.AuditEntry `json:"actions"` // the newest first
	Next    string            `json:"next,omitempty"`
}

// AuditQuery chooses audit entries. The zero value is the newest of all.
type AuditQuery struct {
	Object string // a sweep with its tasks, a task, a worker; "": everything
	After  string // the Next of the page before
	Limit  int    // 0: as many as a page holds, which are listing.MostAudited
}

// Audit returns a page of the audit.
func (c *Client) Audit(ctx context.Context, q AuditQuery) (page AuditPage, err error) {
	v := url.Values{}
	set(v, "object", q.Object)
	set(v, "after", q.After)
	setNumber(v, "limit", q.Limit)
	return page, c.get(ctx, "/audit", v, &page)
}
