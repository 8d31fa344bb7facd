package api

import (
	"context"
	"errors"
	"slices"
	"strings"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/table"
)

// known adds the columns that a question names to those that a sweep declares: its tasks may have
// printed them. Read reads the question; its last error is returned. Only a column that nobody
// knows costs a look at all tasks.
func (a *Archive) known(ctx context.Context, s store.Sweep, schema *table.Schema,
	read func(table.Schema) error) error {
	for {
		err := read(*schema)
		name := unknownColumn(err)
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

// unknownColumn is the name in a question that is the name of no column; "" where that is not what
// is wrong.
func unknownColumn(err error) string {
	if e, ok := errors.AsType[*table.FilterError](err); ok {
		return e.Unknown
	}
	if e, ok := errors.AsType[*table.UnknownColumn](err); ok {
		return e.Name
	}
	return ""
}

// schema is the sweep's columns, with the metrics that its tasks printed and nobody declared.
func (a *Archive) schema(ctx context.Context, s store.Sweep) (table.Schema, error) {
	schema := s.Record.Schema()
	seen := map[string]bool{}
	for _, m := range schema.Metrics {
		seen[m] = true
	}
	err := a.Store.Scan(ctx, s, store.Query{Fields: table.FieldMetrics}, func(t *core.Task) bool {
		for _, m := range t.Try.Metrics() {
			if !seen[m.Name] {
				seen[m.Name] = true
				schema.Metrics = append(schema.Metrics, m.Name)
			}
		}
		return true
	})
	return schema, err
}
