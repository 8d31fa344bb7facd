package listing

import (
	"context"
	"io"

	"mlframework/sweep/api"
	"mlframework/sweep/store"
	"mlframework/sweep/table"
)

// Rows hands on every task that a query chooses, in a row that is used again for the next. Limit
// and After are not used.
func (a *Archive) Rows(ctx context.Context, id string, q api.Query,
	each func(*table.Row) error) error {
	p, err := a.prepare(ctx, id, q)
	if err != nil {
		return err
	}
	return a.each(ctx, p, each)
}

func (a *Archive) each(ctx context.Context, p prepared, each func(*table.Row) error) error {
	var row table.Row // one for all, as each has its address
	for r, err := range a.rows(ctx, p, window{}) {
		if err != nil {
			return err
		}
		row = r
		if err := each(&row); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Indexes returns the indexes of the tasks that a query chooses, in order, and at most so many.
// Sort, Best, Top, Limit and After are not used.
func (a *Archive) Indexes(ctx context.Context, id string, q api.Query, most int) (all []int64,
	err error) {
	p, err := a.prepare(ctx, id, api.Query{States: q.States, Issued: q.Issued, Where: q.Where})
	if err != nil || p.nothing {
		return nil, err
	}
	fields := store.TaskQuery{Fields: p.rest.Fields(), Metrics: p.rest.Metrics()}
	return all, a.find(ctx, p, fields, func(r *table.Row) bool {
		all = append(all, r.Index)
		return len(all) < most
	})
}

// Results writes the table of results in a format, as it is read. Nothing is written when the query
// is wrong.
func (a *Archive) Results(ctx context.Context, id string, q api.Query, f api.Format,
	w io.Writer) error {
	p, err := a.prepare(ctx, id, q)
	if err != nil {
		return err
	}
	switch f {
	case api.CSV:
		if p.schema, err = a.schema(ctx, p.s); err != nil {
			return err
		}
		lines := table.NewCSVWriter(w, p.schema)
		if err := a.each(ctx, p, lines.Write); err != nil {
			return err
		}
		return lines.Flush()
	case api.JSON, "":
		lines := table.NewJSONWriter(w)
		if err := a.each(ctx, p, lines.Write); err != nil {
			return err
		}
		return lines.Flush()
	}
	return api.Wrong("format", string(f)+" is not a format: write json or csv")
}
