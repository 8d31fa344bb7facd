package main

import (
	"context"
	"fmt"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// flagWhere returns the option that chooses tasks; usage says for what.
func flagWhere(usage string) cliv2.Flag {
	return &cliv2.StringFlag{Name: "where", Usage: usage}
}

// readWhere reads the filter of a command that is about tasks of a sweep; named is that it names
// tasks.
func readWhere(ctx *cliv2.Context, named bool) (string, error) {
	where := ctx.String("where")
	switch {
	case ctx.IsSet("where") && strings.TrimSpace(where) == "":
		return "", cli.Wrong("", "--where has no value")
	case where != "" && named:
		return "", cli.Wrong("", "--where and tasks that are named are mutually exclusive")
	}
	return where, wholeCondition(where)
}

// selected returns how many tasks of a sweep a filter picks among those in some states, which what
// names. That it picks none is an error.
func selected(ctx context.Context, src source, t *terminal, s api.Sweep, where, what string,
	states []task.State) (n int64, err error) {
	page, err := src.Groups(ctx, s.ID, api.CountsQuery(where, states...))
	if err != nil {
		return 0, err
	}
	for _, count := range page.Counts() {
		n += count
	}
	if n == 0 {
		return 0, cli.Wrong(fmt.Sprintf("%s results %s --where %s shows what it picks", t.self, s.ID,
			human.CommandLine([]string{where})), "no task of %s that %s matches --where", s.ID, what)
	}
	return n, nil
}

func whereNote(n int64) string { return "--where chooses " + human.Plural(n, "task") }
