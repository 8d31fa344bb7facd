package query

import (
	"context"
	"slices"
	"strings"

	"mlframework/sweep/api"
	"mlframework/sweep/store"
	"mlframework/sweep/table"
)

// known adds the columns that a question names to those that a sweep declares: its tasks may have
// printed them. Read reads the question; its last error is returned. Only a column that no
// task has costs a look at all tasks, the first time where the store has the names in memory.
func (a *Archive) known(ctx context.Context, s store.Sweep, schema *table.Schema,
	read func(table.Schema) error) error {
	for {
		err := read(*schema)
		name := api.UnknownColumn(err)
		if name == "" {
			return err
		}
		metric := strings.TrimPrefix(name, "metrics.")
		printed, failed := a.Store.Printed(ctx, s, metric)
		if failed != nil {
			return failed
		}
		if !printed || slices.Contains(schema.Metrics, metric) {
			if *schema, failed = a.schema(ctx, s); failed != nil { // which the error lists
				return failed
			}
			return read(*schema)
		}
		schema.Metrics = append(schema.Metrics, metric)
	}
}

// schema returns the sweep's columns, with the metrics that its tasks printed and nobody declared.
func (a *Archive) schema(ctx context.Context, s store.Sweep) (table.Schema, error) {
	schema := s.Record.Schema()
	names, err := a.Store.MetricNames(ctx, s)
	for _, name := range names {
		if !slices.Contains(schema.Metrics, name) {
			schema.Metrics = append(schema.Metrics, name)
		}
	}
	return schema, err
}
