package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/infra"
	"mlframework/sweep/table"
)

// connectTime is how long a host may take to let this program in; with the time for questions it
// bounds a look at 12 seconds.
const connectTime = 5 * time.Second

// wish is what is asked for.
type wish struct {
	json, watch, follow, audit bool
	monitor                    string // the role of the link; "": no monitor
	every                      time.Duration
	logs                       string
	tail                       int
}

// read reads the command line.
func read(ctx *cliv2.Context) (w wish, err error) {
	w = wish{json: ctx.Bool("json"), watch: ctx.Bool("watch"), monitor: cli.Chosen(ctx, "monitor"),
		follow: ctx.Bool("follow"), audit: ctx.Bool("audit"),
		logs: ctx.String("logs"), tail: ctx.Int("tail"), every: 2 * time.Second}
	args := ctx.Args().Slice()
	if w.watch && len(args) > 0 {
		seconds, err := strconv.ParseFloat(args[0], 64)
		if err != nil || !(seconds >= 0.1 && seconds <= 86400) {
			return w, cli.Wrong("--watch takes seconds, from 0.1 to 86400",
				"invalid refresh interval %q", args[0])
		}
		w.every, args = time.Duration(seconds*float64(time.Second)), args[1:]
	}
	var modes []string
	for name, is := range map[string]bool{"--watch": w.watch, "--monitor": w.monitor != "",
		"--logs": ctx.IsSet("logs"), "--audit": w.audit} {
		if is {
			modes = append(modes, name)
		}
	}
	switch {
	case len(args) > 0:
		return w, cli.Wrong("--logs names a host, --config another cluster's file",
			"unexpected argument %q", args[0])
	case len(modes) > 1:
		return w, cli.Wrong("", "--watch, --monitor, --logs and --audit are mutually exclusive")
	case w.json && len(modes) == 1 && !w.watch && !w.audit:
		return w, cli.Wrong("", "--json and %s are mutually exclusive", modes[0])
	case ctx.IsSet("logs") && w.logs == "":
		return w, cli.Wrong("name a host, master, broker or monitor", "--logs needs a value")
	case w.logs == "" && (w.follow || ctx.IsSet("tail") && !w.audit):
		return w, cli.Wrong("check-status --logs HOST",
			"--follow is for --logs, --tail for --logs and --audit")
	case w.tail < 0:
		return w, cli.Wrong("", "--tail must not be negative")
	}
	return w, nil
}

// check is the command.
func (c *command) check(ctx *cliv2.Context) error {
	w, err := read(ctx)
	if err != nil {
		return err
	}
	s, err := site.Read(ctx, true, c.stderr)
	if err != nil {
		return err
	}
	s.Hurry(connectTime)
	work, stop := cli.Interrupts(ctx.Context, func() { os.Exit(cli.Interrupted) })
	defer stop()
	cluster, err := s.Open(work)
	if err != nil && w.monitor == "" && !w.audit { // which are the master's
		cluster = s.Assume(err)
	}
	if cluster != nil {
		defer cluster.Close()
		err = c.do(work, w, s, cluster)
	}
	if err != nil && errors.Is(context.Cause(work), cli.ErrInterrupted) {
		return cli.Code(cli.Interrupted)
	}
	return err
}

// do runs the requested view once the cluster is reached. Views that follow the cluster end with
// Ctrl-C.
func (c *command) do(ctx context.Context, w wish, s *site.Site, cluster *infra.Cluster) (
	err error) {
	switch {
	case w.logs != "":
		err = c.logs(ctx, w, cluster)
	case w.audit:
		err = c.audit(ctx, w, s, cluster)
	case w.monitor != "":
		err = c.tunnel(ctx, cluster, w.monitor)
	case w.watch:
		err = c.watch(ctx, w, s, cluster)
	default:
		return c.once(ctx, w, s, cluster)
	}
	if errors.Is(context.Cause(ctx), cli.ErrInterrupted) && (w.logs == "" || w.follow) {
		return nil
	}
	return err
}

// once looks once. What is wrong is in the exit code, too.
func (c *command) once(ctx context.Context, w wish, s *site.Site, cluster *infra.Cluster) error {
	o, err := s.Overview(ctx, cluster)
	if err != nil {
		return err
	}
	if w.json {
		err = table.WriteJSONLine(c.stdout, o)
	} else {
		width, _ := size(c.stdout)
		_, err = fmt.Fprintln(c.stdout, strings.Join(report(o, width), "\n"))
	}
	switch {
	case err != nil:
		return err
	case cluster.Assumed():
		return cli.Code(cli.Unreachable)
	case !o.Well:
		return cli.Code(cli.Failed)
	}
	return nil
}
