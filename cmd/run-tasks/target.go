package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// findSweep finds the sweep that a command is about: the newest unless named. If it is unknown,
// warnings of the master say what may be missing.
func findSweep(ctx context.Context, t *terminal, src source, name string, checks bool) (api.Sweep,
	error) {
	s, err := sweepOf(ctx, src, name, checks)
	// one that is silent is not asked again
	if _, answered := errors.AsType[*api.Error](err); answered {
		t.warn(healthWarnings(ctx, src)...)
	}
	return s, err
}

// numbered is what the id of a sweep looks like, and no name of a definition.
var numbered = regexp.MustCompile(`-[0-9]+$`)

// sweepOf finds the sweep that is named: by its id, or by its definition, of which it is the
// newest. "" is the newest of all.
func sweepOf(ctx context.Context, q queries, name string, checks bool) (api.Sweep, error) {
	s, unknown := q.Sweep(ctx, name, checks)
	if unknown == nil || name == "" || numbered.MatchString(name) {
		return s, unknown
	}
	all, err := q.Sweeps(ctx, "", 0)
	if err != nil {
		return s, unknown
	}
	for _, one := range slices.Backward(all) {
		if one.Definition == name {
			return q.Sweep(ctx, one.ID, checks)
		}
	}
	return s, unknown
}

// target is what a command is about: a sweep, or one task of it.
type target struct {
	sweep  string // "": the newest
	index  int64
	isTask bool
}

// text is the target as it is written.
func (t target) text() string {
	switch {
	case !t.isTask:
		return t.sweep
	case t.sweep == "":
		return strconv.FormatInt(t.index, 10)
	}
	return task.ID{Sweep: t.sweep, Index: t.index}.String()
}

// parseTarget reads SWEEP, SWEEP/INDEX, or INDEX, which is a task of the newest sweep.
func parseTarget(text string) (target, error) {
	if index, err := strconv.ParseInt(text, 10, 64); err == nil && index >= 0 {
		return target{"", index, true}, nil
	}
	if !strings.Contains(text, "/") {
		return target{sweep: text}, nil
	}
	id, err := task.ParseID(text)
	if err != nil {
		return target{}, cli.Wrong("", "%w", err)
	}
	return target{id.Sweep, id.Index, true}, nil
}

// readTarget reads the only argument of a command.
func readTarget(ctx *cliv2.Context) (target, error) {
	arg, err := argument(ctx)
	if err != nil {
		return target{}, err
	}
	return parseTarget(arg)
}

// row reads how one task stands.
func row(ctx context.Context, q queries, id task.ID) (table.Row, error) {
	page, err := q.Tasks(ctx, id.Sweep, api.Query{After: strconv.FormatInt(id.Index, 10), Limit: 1})
	if err != nil {
		return table.Row{}, err
	}
	if len(page.Tasks) == 0 || page.Tasks[0].Index != id.Index {
		return table.Row{}, &core.UnknownTask{Sweep: id.Sweep, Index: strconv.FormatInt(id.Index,
			10)}
	}
	return page.Tasks[0], nil
}

// findTask finds the task that a command is about. Its sweep needs no index if it has only one
// task. Example is the command as hints show it.
func findTask(ctx context.Context, t *terminal, src source, arg, example string) (s api.Sweep,
	of api.Task, err error) {
	at, err := parseTarget(arg)
	if err != nil {
		return s, of, err
	}
	if s, err = findSweep(ctx, t, src, at.sweep, false); err != nil {
		return s, of, err
	}
	switch {
	case !at.isTask && s.Total > 1:
		return s, of, cli.Wrong(fmt.Sprintf("%s %s %s/0, for example", t.self, example, s.ID),
			"%s has %s: name one", s.ID, human.Plural(s.Total, "task"))
	case !at.isTask:
		at.index = s.Record.Ranges.At(0)
	}
	of, err = src.Task(ctx, s.ID, at.index)
	return s, of, err
}

// hasAttempt refuses an attempt that a task does not have; 0 is the newest, whatever its number.
func hasAttempt(t api.Task, attempt int) error {
	var numbers []int
	for _, a := range t.Attempts {
		if !slices.Contains(numbers, a.Attempt) {
			numbers = append(numbers, a.Attempt)
		}
	}
	if attempt == 0 || slices.Contains(numbers, attempt) {
		return nil
	}
	switch last := len(numbers) - 1; last {
	case -1:
		return cli.Wrong("", "%s has no attempt %d: none has started", t.Row.ID, attempt)
	case 0:
		return cli.Wrong("", "%s has no attempt %d: its only one is attempt %d", t.Row.ID, attempt,
			numbers[0])
	default:
		all := strings.Trim(fmt.Sprint(numbers[:last]), "[]")
		return cli.Wrong("", "%s has no attempt %d: it has attempts %s and %d", t.Row.ID, attempt,
			strings.ReplaceAll(all, " ", ", "), numbers[last])
	}
}
