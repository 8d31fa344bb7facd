package listing

import (
	"context"
	"slices"
	"strings"

	"mlframework/sweep/api"
	"mlframework/sweep/store"
	"mlframework/sweep/table"
)

// known adds the columns that a question names to those that a sweep declares: its tasks may have
// printed them. Read reads the question; its last error is returned, which lists the columns that
// there are unless brief. Only a column that no task has costs a look at all tasks, the first time
// where the store has the names in memory.
func (a *Archive) known(ctx context.Context, s store.Sweep, schema *table.Schema, brief bool,
	read func(table.Schema) error) error {
	for {
		err := read(*schema)
		name := api.UnknownColumn(err)
		if name == "" {
			return err
		}
		metric := strings.TrimPrefix(name, "metrics.")
		printed, names, failed := a.Store.HasMetric(ctx, s, metric)
		switch {
		case failed != nil:
			return failed
		case printed && !slices.Contains(schema.Metrics, metric):
			schema.Metrics = append(schema.Metrics, metric)
			continue
		case brief:
			return err
		case names == nil:
			if names, failed = a.Store.MetricNames(ctx, s); failed != nil {
				return failed
			}
		}
		*schema = schemaOf(s, names)
		return read(*schema)
	}
}

// schema returns the sweep's columns, with the metrics that its tasks printed and nobody declared.
func (a *Archive) schema(ctx context.Context, s store.Sweep) (table.Schema, error) {
	names, err := a.Store.MetricNames(ctx, s)
	return schemaOf(s, names), err
}

// schemaOf returns the columns that a sweep declares, with metrics that its tasks printed.
func schemaOf(s store.Sweep, printed []string) table.Schema {
	schema := s.Record.Schema()
	schema.Dimension = s.Record.Points().Dimension
	for _, name := range printed {
		if !slices.Contains(schema.Metrics, name) {
			schema.Metrics = append(schema.Metrics, name)
		}
	}
	return schema
}
