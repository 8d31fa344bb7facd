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
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// openSweep opens the source of a command and finds the sweep that it is about: the newest unless
// named.
func (c *command) openSweep(ctx *cliv2.Context, id string, checks bool) (source, api.Sweep, error) {
	src, err := c.open(ctx)
	if err != nil {
		return nil, api.Sweep{}, err
	}
	s, err := sweepOf(ctx.Context, src, id, checks)
	if err != nil {
		// one that is silent is not asked again
		if _, answered := errors.AsType[*api.Error](err); answered {
			c.warnMissing(ctx.Context, src)
		}
		_ = src.close() // the sweep is what was asked for
		return nil, s, err
	}
	return src, s, nil
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
	if !t.isTask {
		return t.sweep
	}
	return task.ID{Sweep: t.sweep, Index: t.index}.String()
}

func parseTarget(text string) (target, error) {
	if !strings.Contains(text, "/") {
		return target{sweep: text}, nil
	}
	id, err := task.ParseID(text)
	if err != nil {
		return target{}, cli.Wrong("", "%w", err)
	}
	return target{id.Sweep, id.Index, true}, nil
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

// openTask opens the source of a command about one task, whose sweep needs no index when it has no
// other. Example is the command as hints show it.
func (c *command) openTask(ctx *cliv2.Context, arg, example string) (src source, s api.Sweep,
	t api.Task, err error) {
	at, err := parseTarget(arg)
	if err != nil {
		return nil, s, t, err
	}
	if src, s, err = c.openSweep(ctx, at.sweep, false); err != nil {
		return nil, s, t, err
	}
	switch {
	case !at.isTask && s.Total > 1:
		err = cli.Wrong(fmt.Sprintf("%s %s %s/0, for example", c.self, example, s.ID),
			"%s has %s: name one", s.ID, plural(s.Total, "task"))
	case !at.isTask:
		at.index = s.Record.Ranges.At(0)
		fallthrough
	default:
		t, err = src.Task(ctx.Context, s.ID, at.index)
	}
	if err != nil {
		_ = src.close() // the task is what was asked for
	}
	return src, s, t, err
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
