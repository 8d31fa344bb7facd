package main

import (
	"context"
	"fmt"
	"os"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
)

func followCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "follow", ArgsUsage: oneSweep, Action: onSource(c, readFollowOptions),
		Usage: "follow a sweep until it ends",
		Flags: append(locationFlags(), flagNoOutput(), flagVerbose(), flagJSON()),
		Description: `The exit code is that of the sweep. Ctrl-C leaves the sweep running.

EXAMPLES:
   run-tasks follow
   # with the output of its tasks
   run-tasks follow run_training-1 -v`}
}

// followOptions are the options of `run-tasks follow`.
type followOptions struct {
	sweep string
	look  display.Options
}

func readFollowOptions(ctx *cliv2.Context) (o followOptions, err error) {
	o.look = displayOptions(ctx)
	o.look.Late = true
	o.sweep, err = argument(ctx)
	return o, err
}

// run shows a sweep that another process runs, until it ends or an interrupt.
func (o followOptions) run(ctx context.Context, src source, t *terminal) error {
	waitForMaster(src)
	s, err := findSweep(ctx, t, src, o.sweep, false)
	if err != nil {
		return err
	}
	if o.look.Quiet {
		fmt.Fprintln(t.stdout, s.ID)
	}
	work, stop := cli.Interrupts(ctx, func() { os.Exit(cli.Interrupted) })
	defer stop()
	err = watch(work, t, src, api.StartedSweep{Summary: s.Summary}, o.look,
		s.Record.CommandLine)
	if isInterrupted(work) {
		t.noteDetached(s.ID)
		return nil
	}
	if err != nil {
		return err
	}
	return summarize(ctx, t, src, s.ID, o.look, nil, false)
}

// watch shows a sweep until it is idle. Typed says that its command stands in no tasks.yml.
func watch(ctx context.Context, t *terminal, src source, b api.StartedSweep, l display.Options,
	typed bool) error {
	if m, is := src.(*remote); is && m.cluster != nil {
		defer m.bringFiles(ctx, b.ID)()
	}
	var d display.Display
	warned := false
	err := src.follow(ctx, b, l.Detail(), func(u api.Update) error {
		if d == nil {
			d = l.Open(t.stdout, t.stderr)
			t.messages.Redirect(d.Notes())
			if _, shows := d.(*display.Bar); l.Late && !shows && u.Sweep.State == core.Open {
				fmt.Fprintf(d.Notes(), "following %s: %s\n", u.Sweep.ID,
					display.CountsText(u.Sweep))
			}
		}
		if text := firstWarning(u, t.self, typed); text != "" && !warned {
			warned = true
			fmt.Fprintln(d.Notes(), "WARNING: "+cli.Visible(text))
		}
		return d.Update(u)
	})
	if d != nil {
		d.Close()
		t.messages.Redirect(nil)
	}
	return err
}
