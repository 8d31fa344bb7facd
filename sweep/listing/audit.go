package listing

import (
	"context"
	"strconv"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
)

// MostAudited is how many audit entries a page holds.
const MostAudited = 1000

// Audit returns a page of the audit, the newest first.
func (a *Archive) Audit(ctx context.Context, q api.AuditQuery) (page api.AuditPage, err error) {
	before := int64(0)
	if q.After != "" {
		if before, err = api.ParseWholeNumber(q.After); err != nil || before < 1 {
			return page, api.WrongAfter(q.After)
		}
	}
	limit := MostAudited
	if q.Limit > 0 {
		limit = min(limit, q.Limit)
	}
	page.Actions = []core.AuditEntry{}
	entries, err := a.Store.Audit(ctx, q.Object, before, limit+1)
	if err != nil {
		return page, err
	}
	if len(entries) > limit {
		entries = entries[:limit]
		page.Next = strconv.FormatInt(entries[limit-1].ID, 10)
	}
	page.Actions = append(page.Actions, entries...)
	return page, nil
}
