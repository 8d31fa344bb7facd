package api

import (
	"context"

	"mlframework/sweep"
	"mlframework/sweep/result"
	"mlframework/sweep/store"
)

// schema is the sweep's columns, with the metrics that its tasks printed and nobody declared.
func (a *Archive) schema(ctx context.Context, s store.Sweep) (result.Schema, error) {
	schema := s.Record.Schema()
	seen := map[string]bool{}
	for _, m := range schema.Metrics {
		seen[m] = true
	}
	err := a.Store.Scan(ctx, s, store.Query{Fields: result.FieldMetrics}, func(t *sweep.Task) bool {
		if t.Try.Outcome == nil {
			return true
		}
		for _, m := range t.Try.Outcome.Metrics {
			if !seen[m.Name] {
				seen[m.Name] = true
				schema.Metrics = append(schema.Metrics, m.Name)
			}
		}
		return true
	})
	return schema, err
}
