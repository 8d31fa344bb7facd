package main

import (
	"fmt"
	"strconv"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/core"
)

// workers is `run-tasks workers`: a master's workers, or a change of one.
func (c *command) workers(ctx *cliv2.Context) error {
	if locationOf(ctx) == inFolder {
		return cli.Wrong("infrainit starts one and writes config.yml; or run-tasks --master SOCKET workers", "only a master has workers: which one?")
	}
	m, err := c.dial(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	args := ctx.Args().Slice()
	if len(args) == 0 {
		all, err := m.Workers(ctx.Context)
		if err != nil {
			return err
		}
		return c.printWorkers(ctx, all)
	}
	change, err := parseChange(args)
	if err != nil {
		return err
	}
	if ctx.Bool("now") && change.verb != "restart" {
		return cli.Wrong("", "--now is for restart")
	}
	if change.verb == "forget" {
		if err := m.Forget(ctx.Context, change.worker); err != nil {
			return err
		}
		fmt.Fprintln(c.stdout, "forgot "+change.worker)
		return nil
	}
	var w core.Worker
	switch change.verb {
	case "slots":
		w, err = m.Resize(ctx.Context, change.worker, change.slots)
	case "restart":
		w, err = m.Restart(ctx.Context, change.worker, ctx.Bool("now"))
	default:
		w, err = m.Drain(ctx.Context, change.worker, change.verb == "resume")
	}
	if err != nil {
		return err
	}
	return c.printWorkers(ctx, []core.Worker{w})
}

// change is a request to drain, resize or restart a worker, or to let it go on.
type change struct {
	verb, worker string
	slots        int
}

func parseChange(args []string) (ch change, err error) {
	usage := func(n int) error {
		remedy := "run-tasks workers " + args[0] + " WORKER"
		if args[0] == "slots" {
			remedy += " N"
		}
		if len(args) > n {
			return stray(args[n])
		}
		if len(args) < n {
			return cli.Wrong(remedy, "something is missing")
		}
		return nil
	}
	switch ch.verb = args[0]; ch.verb {
	case "drain", "resume", "restart", "forget":
		err = usage(2)
	case "slots":
		if err = usage(3); err == nil {
			ch.slots, err = strconv.Atoi(args[2])
			if err != nil || ch.slots < 0 {
				err = cli.Wrong("0 is what the worker was started with", "%q is not a number of slots", args[2])
			}
		}
	default:
		err = cli.Wrong("run-tasks workers --help", "%q is nothing that can be done with a worker", ch.verb)
	}
	if err == nil {
		ch.worker = args[1]
	}
	return ch, err
}

func (c *command) printWorkers(ctx *cliv2.Context, all []core.Worker) error {
	if ctx.Bool("json") {
		for _, w := range all {
			if err := encode(c.stdout, w); err != nil {
				return err
			}
		}
		return nil
	}
	if len(all) == 0 {
		fmt.Fprintln(c.stdout, "the master has no worker")
		return nil
	}
	t := display.NewTable("WORKER", "HOST", "STATE", "SLOTS", "RUNNING", "WAITING", "CPU", "SEEN", "")
	for _, w := range all {
		slots, cpu, seen, reason := strconv.Itoa(w.Slots), "", "", ""
		if w.Wanted != nil && *w.Wanted != w.Slots {
			slots += fmt.Sprintf(" (%d wanted)", *w.Wanted)
		}
		if w.Load != nil {
			cpu = fmt.Sprintf("%.0f%%", 100*w.Load.CPU)
		}
		if w.Seen != nil {
			seen = w.Seen.In(timeZone()).Format(time.TimeOnly)
		}
		if w.Unconfined != nil {
			reason = "tasks are not confined: " + *w.Unconfined
		}
		if w.Reason != nil {
			reason = *w.Reason
		}
		t.Add(w.Name, w.Host, w.State, slots, strconv.Itoa(len(w.Running)), strconv.Itoa(w.Waiting), cpu, seen, reason)
	}
	return t.Write(c.stdout)
}
