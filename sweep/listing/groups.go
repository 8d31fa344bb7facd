package listing

import (
	"context"
	"errors"

	"mlframework/sweep/api"
	"mlframework/sweep/group"
	"mlframework/sweep/store"
	"mlframework/sweep/table"
)

// Groups summarizes the tasks of a sweep.
func (a *Archive) Groups(ctx context.Context, id string, q api.GroupQuery) (api.GroupPage, error) {
	p, err := a.prepare(ctx, id, api.Query{States: q.States, Where: q.Where, Top: q.Top,
		Limit: q.Limit})
	if err != nil {
		return api.GroupPage{}, err
	}
	if len(q.Metrics) == 0 && p.s.Record.Objective.IsZero() {
		if p.schema, err = a.schema(ctx, p.s); err != nil {
			return api.GroupPage{}, err
		}
	}
	var g *group.Grouper
	err = a.known(ctx, p.s, &p.schema, p.brief, func(schema table.Schema) (err error) {
		g, err = q.Grouper(p.s.Head.ID, p.s.Record, schema)
		return err
	})
	if err != nil {
		return api.GroupPage{}, api.WrongGroups(err)
	}
	if !p.nothing {
		tasks := store.TaskQuery{Fields: g.Fields() | p.rest.Fields(),
			Metrics: append(g.Metrics(), p.rest.Metrics()...)}
		var full error
		err = a.find(ctx, p, tasks, func(r *table.Row) bool {
			full = g.Add(r)
			return full == nil
		})
		if err := errors.Join(err, full); err != nil {
			return api.GroupPage{}, api.WrongGroups(err)
		}
	}
	return q.Page(g)
}
