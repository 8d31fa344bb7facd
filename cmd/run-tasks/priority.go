package main

import (
	"fmt"
	"strconv"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
)

// priority is `run-tasks priority`.
func (c *command) priority(ctx *cliv2.Context) error {
	args := ctx.Args().Slice()
	switch len(args) {
	case 0:
		return cli.Wrong("run-tasks priority [SWEEP] N", "missing argument: N")
	case 1, 2:
	default:
		return stray(args[2])
	}
	n, err := strconv.Atoi(args[len(args)-1])
	if err != nil {
		return cli.Wrong("run-tasks priority [SWEEP] N", "invalid priority %q: not a whole number",
			args[len(args)-1])
	}
	if err := fitsPriority(n); err != nil {
		return err
	}
	id := ""
	if len(args) == 2 {
		id = args[0]
	}
	src, s, err := c.openSweep(ctx, id, false)
	if err != nil {
		return err
	}
	defer src.close()
	return src.act(ctx.Context, func(m *api.Client) error {
		after, err := m.Prioritize(ctx.Context, s.ID, n)
		if err == nil {
			fmt.Fprintf(c.stdout, "%s has priority %d\n", after.ID, after.Priority)
		}
		return err
	})
}
