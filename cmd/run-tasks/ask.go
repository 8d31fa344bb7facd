package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// local is the time zone in which people are shown times.
func local() *time.Location { return time.Local }

// reading opens the source of a command for a question, and finds the sweep that it is about: the newest unless named.
func (c *command) reading(ctx *cliv2.Context, id string, checks bool) (source, api.Sweep, error) {
	src, err := c.open(ctx)
	if err != nil {
		return nil, api.Sweep{}, err
	}
	s, err := sweepOf(ctx.Context, src, id, checks)
	if err != nil {
		if _, answered := errors.AsType[*api.Error](err); answered { // one that is silent is not asked again
			c.warnMissing(ctx.Context, src)
		}
		_ = src.close() // the sweep is what was asked for
		return nil, s, err
	}
	return src, s, nil
}

// numbered is what the id of a sweep looks like, and no name of a definition.
var numbered = regexp.MustCompile(`-[0-9]+$`)

// sweepOf finds the sweep that is named: by its id, or by its definition, of which it is the newest. "" is the newest of all.
func sweepOf(ctx context.Context, q questions, name string, checks bool) (api.Sweep, error) {
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

// warnMissing says what a master's workers tell and its store does not know.
func (c *command) warnMissing(ctx context.Context, src source) {
	m, ok := src.(*remote)
	if !ok {
		return
	}
	h, err := m.Health(ctx)
	if err != nil {
		return // what was asked for has its own answer
	}
	for _, w := range h.Warnings {
		fmt.Fprintln(c.stderr, "WARNING: "+cli.Visible(w.String()))
	}
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
func row(ctx context.Context, q questions, id task.ID) (table.Row, error) {
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

// list is `run-tasks ls`.
func (c *command) list(ctx *cliv2.Context) error {
	if ctx.NArg() > 0 {
		return stray(ctx.Args().First())
	}
	src, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer src.close()
	sweeps, err := src.Sweeps(ctx.Context, "", 0)
	if err != nil {
		return err
	}
	if len(sweeps) == 0 {
		c.warnMissing(ctx.Context, src)
		fmt.Fprintln(c.stderr, "there is no sweep yet")
		return nil
	}
	slices.Reverse(sweeps)
	c.warnMissing(ctx.Context, src)
	if ctx.Bool("json") {
		return c.listJSON(sweeps)
	}
	return errors.Join(c.listText(sweeps), c.warnDamaged(sweeps))
}

// warnDamaged says of which sweeps only a part could be listed.
func (c *command) warnDamaged(sweeps []core.Summary) error {
	for _, s := range sweeps {
		if s.Revision == "" && s.Reason != nil {
			text := fmt.Sprintf("WARNING: %s: %s", s.ID, *s.Reason)
			if _, err := fmt.Fprintln(c.stderr, cli.Visible(text)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *command) listJSON(sweeps []core.Summary) error {
	for _, s := range sweeps {
		if err := encode(c.stdout, s); err != nil {
			return err
		}
	}
	return nil
}

// listText shows priorities where there are any.
func (c *command) listText(sweeps []core.Summary) error {
	ranked := slices.ContainsFunc(sweeps, func(s core.Summary) bool { return s.Priority != 0 })
	columns := []string{"SWEEP", "STATE", "TASKS", "DONE", "FAILED", "SUBMITTED", "TOOK"}
	if ranked {
		columns = append(columns, "PRIORITY")
	}
	t := newTable(columns...)
	for _, s := range sweeps {
		done, failed := tally(s)
		took := ""
		if s.Ended != nil { // while it runs, and after a kill, Ran is that of its last change
			took = ranFor(s).Round(time.Second).String()
		}
		row := []string{s.ID, string(s.State), fmt.Sprint(s.Total), fmt.Sprint(done), fmt.Sprint(failed), s.Submitted.In(local()).Format(time.DateTime), took}
		if ranked {
			row = append(row, strconv.Itoa(s.Priority))
		}
		t.add(row...)
	}
	return t.write(c.stdout)
}
