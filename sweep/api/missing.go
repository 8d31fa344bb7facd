package api

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"mlframework/sweep"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// mostCompared is how many points Missing looks at one by one.
const mostCompared = 10_000_000

// Missing tells in which points of a record's space no task of the same key has succeeded, in whatever sweep. The record's images
// are those that its tasks could run in: a point is not missing that succeeded in one of them.
func (a *Archive) Missing(ctx context.Context, r sweep.Record, code string) (m Missing, err error) {
	done, err := a.succeeded(ctx, code, len(r.Images) == 0)
	if err != nil || len(done) == 0 {
		return Missing{All: true}, err
	}
	if r.Space.Len() > mostCompared {
		return m, wrong("missing", fmt.Sprintf("every point is compared, at most %d; this space has %d", mostCompared, r.Space.Len()))
	}
	images := r.Images.Keyed()
	for i, argv := range r.Space.Flags(r.Style).All(r.Recipe.Command, 0, r.Space.Len()) {
		if !slices.ContainsFunc(images, func(image string) bool {
			_, have := done[task.KeyOf(argv, image, r.Recipe, code)]
			return have
		}) {
			m.Ranges.Add(i)
		}
		if i%1024 == 0 && ctx.Err() != nil {
			return m, context.Cause(ctx)
		}
	}
	return m, nil
}

// succeeded collects the keys of all tasks that succeeded with some code. Bare says that tasks run in no container here: then what
// older programs recorded as the image, which is what tasks.yml said, did not count.
func (a *Archive) succeeded(ctx context.Context, code string, bare bool) (map[task.Key]struct{}, error) {
	sweeps, err := a.Store.Sweeps(ctx)
	if err != nil {
		return nil, err
	}
	keys := map[task.Key]struct{}{}
	for _, s := range sweeps {
		codes, err := a.Store.Codes(ctx, s)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(slices.Collect(maps.Values(codes)), code) {
			continue
		}
		old := s.Record
		complete(&old)
		points := old.Points()
		for t, err := range a.Store.Tasks(ctx, s, store.Query{States: []task.State{task.Succeeded}}) {
			if err != nil {
				return nil, err
			}
			image, known := old.KeyedOn(t.Try.Worker)
			if bare && len(old.Images) == 0 {
				image = ""
			}
			if known && codes[t.Try.Revision] == code {
				argv := points.Flags(slices.Clone(old.Recipe.Command), t.Index)
				keys[task.KeyOf(argv, image, old.Recipe, code)] = struct{}{}
			}
		}
	}
	return keys, nil
}
