package listing

import (
	"context"
	"errors"
	"strconv"

	"mlframework/sweep/api"
	"mlframework/sweep/table"
)

// maxPageRows bounds a page.
const maxPageRows = 1000

// pageSize returns how many rows a page of a query holds.
func pageSize(q api.Query) int {
	if q.Limit > 0 {
		return min(q.Limit, maxPageRows)
	}
	return maxPageRows
}

// Tasks reads a page of tasks.
func (a *Archive) Tasks(ctx context.Context, id string, q api.Query) (api.Page, error) {
	p, err := a.prepare(ctx, id, q)
	if err != nil {
		return api.Page{}, err
	}
	after, err := api.ParseOffset(q.After)
	if err != nil {
		return api.Page{}, err
	}
	if q.Top > 0 && p.order == nil { // a page does not know how many were on those before
		return api.Page{}, api.Wrong("top", "it needs sort or best on pages of tasks; "+
			"limit is the size of a page")
	}
	limit := pageSize(q)
	page, w := api.Page{Tasks: []table.Row{}}, window{from: after, most: int64(limit) + 1}
	if p.order != nil {
		w.from, w.skip = 0, min(after, p.s.Head.Total)
	}
	for r, err := range a.rows(ctx, p, w) {
		far, picked := errors.AsType[*unmatched](err)
		switch {
		case picked && len(page.Tasks) > 0: // these are wanted now
			page.Next = strconv.FormatInt(far.next, 10)
		case err != nil:
			return api.Page{}, err
		case len(page.Tasks) < limit:
			page.Tasks = append(page.Tasks, r)
			continue
		case p.order == nil:
			page.Next = strconv.FormatInt(r.Index, 10)
		default:
			page.Next = strconv.FormatInt(after+int64(limit), 10)
		}
		break
	}
	return page, nil
}
