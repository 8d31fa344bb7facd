package main

import (
	"context"

	cliv2 "github.com/urfave/cli/v2"
)

// sourceOptions are the options of a command about the sweeps of a source.
type sourceOptions interface {
	// run is what the command does.
	run(ctx context.Context, src source, t *terminal) error
}

// onSource makes the action of a command that reads its options and then runs on the sweeps that
// the command line selects.
func onSource[O sourceOptions](c *command,
	read func(*cliv2.Context) (O, error)) cliv2.ActionFunc {
	return func(ctx *cliv2.Context) error {
		o, err := read(ctx)
		if err != nil {
			return err
		}
		src, err := c.open(ctx)
		if err != nil {
			return err
		}
		defer src.close()
		return o.run(ctx.Context, src, &c.terminal)
	}
}
