package query

import (
	"context"
	"strconv"

	"mlframework/sweep/api"
	"mlframework/sweep/store"
)

// MostActions is how many actions a page holds.
const MostActions = 1000

// Audit reads what people did, the newest first.
func (a *Archive) Audit(ctx context.Context, q api.AuditQuery) (page api.Actions, err error) {
	before := int64(0)
	if q.After != "" {
		if before, err = api.ReadWhole(q.After); err != nil || before < 1 {
			return page, api.Wrong("after",
				"it is no place in the record: take the `next` of the page before")
		}
	}
	limit := MostActions
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
	page.Actions = []api.Action{}
	for _, d := range deeds {
		page.Actions = append(page.Actions, newAction(d))
	}
	return page, nil
}

func newAction(d store.Deed) api.Action {
	a := api.Action{ID: d.ID, Time: d.Time, User: d.User, Action: d.Action, Kind: d.Kind,
		Object: d.Object, Detail: d.Detail, Outcome: d.Outcome}
	if d.UID >= 0 {
		a.UID = &d.UID
	}
	if d.Reason != "" {
		a.Reason = &d.Reason
	}
	return a
}
