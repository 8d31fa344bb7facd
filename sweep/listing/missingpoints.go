package listing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/space"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

const (
	// mostCompared is how many points Missing looks at one by one.
	mostCompared = 10_000_000
	// mostExplained is how many missing points Missing gives causes of, and explainedBy how many
	// tasks it looks at for them.
	mostExplained = 1000
	explainedBy   = 200_000
)

// Missing tells in which points of a record's space no task of the same key has succeeded, in
// whatever sweep. The record's images are those that its tasks could run in: a point is not missing
// that succeeded in one of them. The record's own revision and those of same count as ones of that
// code, whatever the store says: a revision is all files, and so one code.
func (a *Archive) Missing(ctx context.Context, r core.Record, code string,
	same ...string) (m api.Missing, err error) {
	sweeps, err := a.Store.List(ctx, "", 0)
	if err != nil {
		return m, err
	}
	slices.Reverse(sweeps) // the newest first
	same = append(slices.Clone(same), r.Recipe.Revision)
	f := successFinder{store: a.Store, damaged: map[string]bool{}}
	done, err := f.succeeded(ctx, sweeps, code, same)
	switch {
	case err != nil:
		return m, err
	case len(done) == 0:
		m.All = true
	case r.Space.Len() > mostCompared:
		return m, api.Wrong("missing",
			fmt.Sprintf("every point is compared, at most %d; this space has %d", mostCompared,
				r.Space.Len()))
	}
	if !m.All {
		images := r.Images.Keyed()
		points := r.Points()
		var argv []string
		in := map[int64]bool{} // sweeps
		for i := range r.Space.Len() {
			argv = points.CommandLine(argv[:0], i)
			of := hidden(points, r.Recipe, i)
			if !slices.ContainsFunc(images, func(image string) bool {
				seq, have := done[task.KeyOf(argv, image, r.Recipe, code, of)]
				if have {
					in[seq] = true
				}
				return have
			}) {
				m.Ranges.Add(i)
			}
			if i%1024 == 0 && ctx.Err() != nil {
				return m, context.Cause(ctx)
			}
		}
		for _, l := range sweeps {
			if in[l.Seq] {
				m.Succeeded = append(m.Succeeded, l.Head.ID)
			}
		}
	}
	m.Because, err = f.because(ctx, sweeps, r, m)
	for _, l := range sweeps {
		if f.damaged[l.Head.ID] {
			m.Damaged = append(m.Damaged, l.Head.ID)
		}
	}
	return m, err
}

// successFinder looks for tasks that succeeded, in all sweeps.
type successFinder struct {
	store   *store.Reader
	damaged map[string]bool // sweeps of which not all could be read
}

// succeeded collects the keys of all tasks that succeeded with some code, each with the oldest sweep
// that has one.
func (f *successFinder) succeeded(ctx context.Context, sweeps []store.Listed, code string,
	same []string) (map[task.Key]int64, error) {
	keys := map[task.Key]int64{}
	for _, l := range sweeps {
		codes, err := f.store.Codes(ctx, store.Sweep{Seq: l.Seq})
		if err != nil {
			return nil, err
		}
		for revision := range codes {
			if slices.Contains(same, revision) {
				codes[revision] = code
			}
		}
		if !slices.Contains(slices.Collect(maps.Values(codes)), code) {
			continue
		}
		for t, err := range f.successes(ctx, l.Head.ID) {
			if err != nil {
				return nil, err
			}
			image, known := t.record.KeyedOn(t.Attempt.Worker)
			if known && codes[t.Attempt.Revision] == code {
				recipe := t.record.Recipe
				settings := t.record.SettingsOf(t.Attempt)
				recipe.Env, recipe.EnvBraces = settings.Env, settings.EnvBraces
				keys[task.KeyOf(t.argv, image, recipe, code,
					hidden(t.points, recipe, t.Index))] = l.Seq
			}
		}
	}
	return keys, nil
}

// hidden returns a task's parameters where its command line does not show them.
func hidden(points *core.Points, r task.Recipe, index int64) []space.Assignment {
	if !r.Hidden() {
		return nil
	}
	return points.Given(index)
}

// success is a task that succeeded.
type success struct {
	core.Task
	record *core.Record // of its sweep
	argv   []string     // valid until the next
	points *core.Points
}

// successes yields the tasks of a sweep that succeeded. Where one cannot be read, or the sweep,
// that is noted, and no more come.
func (f *successFinder) successes(ctx context.Context, id string) iter.Seq2[success, error] {
	return func(yield func(success, error) bool) {
		err := f.eachSuccess(ctx, id, func(t success) bool { return yield(t, nil) })
		_, sweep := errors.AsType[*store.DamagedSweep](err)
		_, row := errors.AsType[*store.DamagedTask](err)
		if sweep || row {
			f.damaged[id] = true
		} else if err != nil {
			yield(success{}, err)
		}
	}
}

// eachSuccess calls a function with each task of a sweep that succeeded, while it returns true.
func (f *successFinder) eachSuccess(ctx context.Context, id string, do func(success) bool) error {
	s, err := f.store.Sweep(ctx, id)
	if err != nil {
		return err
	}
	old := s.Record
	complete(&old)
	points, argv := old.Points(), []string(nil)
	for t, err := range f.store.Tasks(ctx, s,
		store.TaskQuery{States: []task.State{task.Succeeded}}) {
		if err != nil {
			return err
		}
		argv = points.CommandLine(argv[:0], t.Index)
		if !do(success{t, &s.Record, argv, points}) {
			break
		}
	}
	return nil
}

// because returns what is different about missing points from the newest task of the same
// definition and parameters that succeeded: of the first mostExplained points, as far as
// explainedBy tasks show it.
func (f *successFinder) because(ctx context.Context, sweeps []store.Listed, r core.Record,
	m api.Missing) ([]api.Cause, error) {
	all := core.Ranges{{To: r.Space.Len()}}
	if !m.All {
		all = m.Ranges
	}
	open := map[task.Key]task.Key{} // points by their parameters, as written and in whatever way
	plain := r.Style.Form == "" && len(r.Recipe.NoArguments()) == 0
	keyOf := func(points *core.Points, index int64) task.Key {
		if plain { // a switch that is absent is as no parameter
			return task.KeyOf(points.Flags(nil, index), "", task.Recipe{}, "", nil)
		}
		return task.KeyOf(nil, "", task.Recipe{ReadsParameters: true}, "", points.Given(index))
	}
	looseKeyOf := func(points *core.Points, index int64) task.Key {
		return looseKey(points.Given(index), plain)
	}
	points := r.Points()
	for n := range min(all.Len(), mostExplained) {
		open[looseKeyOf(points, all.At(n))] = keyOf(points, all.At(n))
	}
	type kind struct{ what, revision string }
	found, looked := map[kind]api.Cause{}, 0
	count := func(c api.Cause) {
		k := kind{c.What, c.Revision}
		if have, is := found[k]; is {
			have.Points += c.Points
			c = have
		}
		found[k] = c
	}
	for _, l := range sweeps {
		if l.Outline.Definition != r.Recipe.Definition || len(open) == 0 || looked > explainedBy {
			continue
		}
		for t, err := range f.successes(ctx, l.Head.ID) {
			if err != nil {
				return nil, err
			}
			if looked++; looked > explainedBy || len(open) == 0 {
				break
			}
			loose := looseKeyOf(t.points, t.Index)
			if key, is := open[loose]; is {
				delete(open, loose)
				cause := api.Cause{What: api.CauseSpelling, Sweep: l.Head.ID,
					Revision: t.Attempt.Revision, Points: 1}
				if key == keyOf(t.points, t.Index) {
					cause.What = difference(r, t)
				}
				count(cause)
			}
		}
	}
	if len(found) > 0 && len(open) > 0 {
		count(api.Cause{What: api.CauseNew, Points: int64(len(open))})
	}
	return slices.SortedFunc(maps.Values(found), func(a, b api.Cause) int {
		return cmp.Or(cmp.Compare(b.Points, a.Points), cmp.Compare(a.What, b.What),
			cmp.Compare(a.Revision, b.Revision))
	}), nil
}

// looseKey returns a key that parameters have in common which differ only in their order and in how
// numbers are written. As flags, a switch that is absent and null are as no parameter, and quotes
// make no difference.
func looseKey(of []space.Assignment, flags bool) task.Key {
	of = slices.Clone(of)
	slices.SortFunc(of, func(a, b space.Assignment) int { return cmp.Compare(a.Name, b.Name) })
	of = slices.DeleteFunc(of, func(a space.Assignment) bool {
		return flags && (a.Kind == space.Null ||
			a.Kind == space.Switch && strings.EqualFold(a.Value, "false"))
	})
	for i, a := range of {
		of[i].Value = cmp.Or(space.Numeral(a.Value), a.Value)
		if flags && a.Kind == space.Text {
			of[i].Kind = ""
		}
	}
	return task.KeyOf(nil, "", task.Recipe{ReadsParameters: true}, "", of)
}

// difference returns what tells a record from that of a task which succeeded, of those things that
// decide what a task computes.
func difference(now core.Record, t success) string {
	old := t.record
	image, known := old.KeyedOn(t.Attempt.Worker)
	switch {
	case !slices.Equal(now.Recipe.Command, old.Recipe.Command) || now.Style != old.Style ||
		now.Recipe.ReadsParameters != old.Recipe.ReadsParameters ||
		now.Recipe.CountsRepeats != old.Recipe.CountsRepeats ||
		!reflect.DeepEqual(now.Recipe.File, old.Recipe.File):
		return api.CauseCommand
	case !known || !slices.Contains(now.Images.Keyed(), image):
		return api.CauseImage
	case !maps.Equal(now.Recipe.Env, old.SettingsOf(t.Attempt).Env) ||
		now.Recipe.EnvBraces != old.SettingsOf(t.Attempt).EnvBraces:
		return api.CauseEnvironment
	case now.Recipe.Workdir != old.Recipe.Workdir ||
		!maps.Equal(now.Recipe.Links, old.Recipe.Links):
		return api.CauseFolder
	}
	return api.CauseCode
}
