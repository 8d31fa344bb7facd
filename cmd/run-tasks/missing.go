package main

import (
	"context"
	"slices"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// mostCompared is how many points --missing looks at one by one.
const mostCompared = 10_000_000

// missing returns the points of a record's space in which no task of the same key has succeeded: all of them is an empty
// list with all set.
func missing(ctx context.Context, reader *store.Reader, r sweep.Record, code string) (points sweep.Ranges, all bool, err error) {
	done, err := succeeded(ctx, reader, code)
	if err != nil || len(done) == 0 {
		return nil, true, err
	}
	if r.Space.Len() > mostCompared {
		return nil, false, cli.Wrong("", "--missing compares every point, at most %d; this space has %d", mostCompared, r.Space.Len())
	}
	for i, argv := range r.Space.Flags(r.Style).All(r.Recipe.Command, 0, r.Space.Len()) {
		if _, have := done[task.KeyOf(argv, r.Image, r.Recipe.Env, code)]; !have {
			points.Add(i)
		}
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
	}
	return points, false, nil
}

// succeeded collects the keys of all tasks that succeeded with some code.
func succeeded(ctx context.Context, reader *store.Reader, code string) (map[task.Key]struct{}, error) {
	sweeps, err := reader.Sweeps(ctx)
	if err != nil {
		return nil, err
	}
	codes, err := reader.Codes(ctx)
	if err != nil {
		return nil, err
	}
	keys := map[task.Key]struct{}{}
	for _, s := range sweeps {
		old := s.Record
		flags := old.Space.Flags(old.Style)
		for t, err := range reader.Tasks(ctx, s, store.Query{States: []task.State{task.Succeeded}}) {
			if err != nil {
				return nil, err
			}
			if codes[t.Try.Revision] == code {
				argv := flags.Append(slices.Clone(old.Recipe.Command), t.Index)
				keys[task.KeyOf(argv, old.Image, old.Recipe.Env, code)] = struct{}{}
			}
		}
	}
	return keys, nil
}
