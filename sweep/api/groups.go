package api

import (
	"cmp"
	"context"
	"errors"
	"strconv"

	"mlframework/sweep/core"
	"mlframework/sweep/group"
	"mlframework/sweep/table"
)

// GroupQuery asks for the tasks of a sweep in groups. Of its Query States and Where choose tasks,
// and Sort, Issued, Top, Limit and After groups, as [group.Order] says; Best is not used, as groups
// are ranked unless they are sorted.
type GroupQuery struct {
	Query
	By      []string // columns; nil: all parameters but those that the sweep repeats
	Metrics []string // as in [group.Options]
}

// GroupPage is some groups of a sweep's tasks.
type GroupPage struct {
	group.Table
	Next string `json:"next,omitempty"` // the After of the next page; "": this was the last
}

func (q GroupQuery) Grouper(id string, r core.Record, schema table.Schema) (*group.Grouper, error) {
	by := q.By
	if by == nil {
		by = r.PointColumns()
	}
	return group.New(group.Options{Sweep: id, By: by, Metrics: q.Metrics, Objective: r.Objective,
		Schema: schema})
}

// Page orders the groups and takes those that are wanted.
func (q GroupQuery) Page(g *group.Grouper) (page GroupPage, err error) {
	skip, err := ParseOffset(q.After)
	if err != nil {
		return page, err
	}
	o := group.Order{Sort: q.Sort, Issued: q.Issued, Top: int64(q.Top), Skip: skip,
		Most: int64(q.Limit)}
	if page.Table, err = g.Table(o); UnknownColumn(err) != "" {
		return page, Wrong("sort", err.Error())
	}
	if next := skip + int64(len(page.Groups)); next < page.Total && len(page.Groups) > 0 {
		page.Next = strconv.FormatInt(next, 10)
	}
	return page, err
}

// WrongGroups is a question about groups that is refused, with the parameter that is wrong.
func WrongGroups(err error) error {
	if e, ok := errors.AsType[*group.Error](err); ok {
		return Wrong(e.Parameter, e.Text)
	}
	return err
}

// Groups returns a page of groups of the tasks of a sweep.
func (c *Client) Groups(ctx context.Context, id string, q GroupQuery) (page GroupPage, err error) {
	v := q.values()
	setNumber(v, "limit", q.Limit)
	set(v, "after", q.After)
	if q.By != nil {
		v.Set("by", cmp.Or(group.JoinNames(q.By), ",")) // a parameter without a value is refused
	}
	set(v, "of", group.JoinNames(q.Metrics))
	return page, c.get(ctx, sweepPath(id)+"/groups", v, &page)
}
