package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

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
	work, stop := cli.Interrupts(ctx.Context, func() { os.Exit(cli.Interrupted) })
	defer stop()
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
	d := l.open(c.stdout, c.stderr)
	var last master.Update
	err = client.Follow(work, id, l.output && !l.json, func(u master.Update) error {
		last = u
		return d.update(u)
	})
	d.close()
	switch {
	case errors.Is(context.Cause(work), cli.ErrInterrupted):
		fmt.Fprintf(c.stderr, "%s goes on; see it again: run-tasks follow %s\n", id, id)
		return nil
	case !last.Idle() && !last.Closed && gone():
		// The runner was killed, and the store says how far it came.
	case err != nil:
		return refused(err)
	}
	return c.conclude(ctx.Context, reader, id, l, false)
}

// gone waits for the end of a runner that has cut the connection; a process that dies is reachable for a moment.
func gone() bool {
	for end := time.Now().Add(2 * time.Second); alive(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}
