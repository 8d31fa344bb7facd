package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"mlframework/sweep/core"
	"mlframework/sweep/group"
	"mlframework/sweep/store"
	"mlframework/sweep/table"
)

// GroupQuery asks for the tasks of a sweep in groups. Of its Query States and Where choose tasks,
// and Sort, Begun, Top, Limit and After groups, as [group.Order] says; Best is not used, as groups
// are ranked unless they are sorted.
type GroupQuery struct {
	Query
	By      []string // columns; nil: the parameters that vary beside those that the sweep repeats
	Metrics []string // as in [group.Options]
}

// GroupPage is some groups of a sweep's tasks.
type GroupPage struct {
	group.Table
	Next string `json:"next,omitempty"` // the After of the next page; "": this was the last
}

// Groups summarizes the tasks of a sweep.
func (a *Archive) Groups(ctx context.Context, id string, q GroupQuery) (GroupPage, error) {
	p, err := a.prepare(ctx, id, Query{States: q.States, Where: q.Where, Top: q.Top, Limit: q.Limit})
	if err != nil {
		return GroupPage{}, err
	}
	if len(q.Metrics) == 0 && p.s.Record.Objective.IsZero() {
		if p.schema, err = a.schema(ctx, p.s); err != nil {
			return GroupPage{}, err
		}
	}
	var g *group.Grouper
	err = a.known(ctx, p.s, &p.schema, func(schema table.Schema) (err error) {
		g, err = q.grouper(p.s.Head.ID, p.s.Record, schema)
		return err
	})
	if err != nil {
		return GroupPage{}, wrongGroups(err)
	}
	g.Bind(p.s.Record.Points().Dimension)
	if !p.nothing {
		tasks := store.Query{Fields: g.Fields() | p.rest.Fields(),
			Metrics: append(g.Metrics(), p.rest.Metrics()...)}
		var full error
		err = a.find(ctx, p, tasks, func(r *table.Row) bool {
			full = g.Add(r)
			return full == nil
		})
		if err := errors.Join(err, full); err != nil {
			return GroupPage{}, wrongGroups(err)
		}
	}
	return q.page(g)
}

func (q GroupQuery) grouper(id string, r core.Record, schema table.Schema) (*group.Grouper, error) {
	by := q.By
	if by == nil {
		by = r.Repeated()
	}
	return group.New(group.Options{Sweep: id, By: by, Metrics: q.Metrics, Objective: r.Objective,
		Schema: schema})
}

// page orders the groups and takes those that are wanted.
func (q GroupQuery) page(g *group.Grouper) (page GroupPage, err error) {
	skip, err := whole(q.After)
	if q.After != "" && (err != nil || skip < 0) {
		return page, wrong("after", q.After+" is not what a page gave as next")
	}
	o := group.Order{Sort: q.Sort, Begun: q.Begun, Top: int64(q.Top), Skip: skip, Most: int64(q.Limit)}
	if page.Table, err = g.Table(o); unknownColumn(err) != "" {
		return page, wrong("sort", err.Error())
	}
	if next := skip + int64(len(page.Groups)); next < page.Total && len(page.Groups) > 0 {
		page.Next = strconv.FormatInt(next, 10)
	}
	return page, err
}

// wrongGroups is a question about groups that is refused, with the parameter that is wrong.
func wrongGroups(err error) error {
	if e, ok := errors.AsType[*group.Error](err); ok {
		return wrong(e.Parameter, e.Text)
	}
	return err
}

// Groups is as Archive.Groups. A master of before that question existed is asked for the tasks.
func (c *Client) Groups(ctx context.Context, id string, q GroupQuery) (page GroupPage, err error) {
	v := q.values()
	setNumber(v, "limit", q.Limit)
	set(v, "after", q.After)
	if q.By != nil {
		v.Set("by", group.JoinNames(q.By))
	}
	set(v, "of", group.JoinNames(q.Metrics))
	err = c.get(ctx, sweepPath(id)+"/groups", v, &page)
	if e, ok := errors.AsType[*Error](err); !ok || e.Status != http.StatusNotFound {
		return page, err
	}
	s, err := c.Sweep(ctx, id, false)
	if err != nil {
		return page, err
	}
	g, err := q.grouper(s.ID, s.Record, s.Record.Schema())
	if err != nil {
		return page, wrongGroups(err)
	}
	if err := c.Rows(ctx, s.ID, Query{States: q.States, Where: q.Where}, g.Add); err != nil {
		return page, wrongGroups(err)
	}
	return q.page(g)
}

func (s *Server) groups(w http.ResponseWriter, r *http.Request) error {
	q, err := readGroupQuery(r.URL.Query())
	if err != nil {
		return err
	}
	page, err := s.archive.Groups(r.Context(), r.PathValue("sweep"), q)
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, page)
	return nil
}

func readGroupQuery(v url.Values) (q GroupQuery, err error) {
	if q.Query, err = readQuery(v); err != nil {
		return q, err
	}
	if v.Has("by") {
		if q.By, err = group.Names(v.Get("by")); err != nil {
			return q, wrong("by", err.Error())
		}
	}
	if q.Metrics, err = group.Names(v.Get("of")); err != nil {
		return q, wrong("of", err.Error())
	}
	return q, nil
}
