package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/master"
)

// follow is `run-tasks follow`: a sweep that another process runs.
func (c *command) follow(ctx *cliv2.Context) error {
	id, err := argument(ctx)
	if err != nil {
		return err
	}
	reader, s, err := reading(ctx.Context, id)
	if err != nil {
		return err
	}
	defer reader.Close()
	id = s.Head.ID
	l := look{json: ctx.Bool("json"), output: !ctx.Bool("no-output")}
	if !alive() {
		return c.conclude(ctx.Context, reader, id, l, false)
	}
	client := master.Dial(socketPath)
	defer client.Close()
	work, stop := cli.Interrupts(ctx.Context, func() { os.Exit(cli.Interrupted) })
	defer stop()
	d := l.open(c.stdout, c.stderr)
	err = client.Follow(work, id, l.output && !l.json, d.update)
	d.close()
	switch {
	case errors.Is(context.Cause(work), cli.ErrInterrupted):
		fmt.Fprintf(c.stderr, "%s goes on; see it again: run-tasks follow %s\n", id, id)
		return nil
	case err != nil:
		return refused(err)
	}
	return c.conclude(ctx.Context, reader, id, l, false)
}
