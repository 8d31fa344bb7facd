package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/cmd/run-tasks/local"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
	"mlframework/sweep/worker/process"
)

// runnerFlags are the options of the runner that a command which starts it passes on.
func runnerFlags() []cliv2.Flag {
	return append([]cliv2.Flag{&cliv2.IntFlag{Name: "slots", Aliases: []string{"j"},
		DefaultText: "number of cores", Usage: "on this machine: run up to `N` tasks at a time"}},
		cli.GPUBusyFlags("on this machine: ")...)
}

// runnerOptions returns the options of a command line with which it starts the runner.
func runnerOptions(ctx *cliv2.Context) (all []string) {
	for _, f := range runnerFlags() {
		if name := f.Names()[0]; ctx.IsSet(name) {
			all = append(all, fmt.Sprintf("--%s=%v", name, ctx.Value(name)))
		}
	}
	return all
}

// runnerCommand is the process that runs the sweeps of a folder. People do not call it.
func runnerCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: local.RunnerCommand, Hidden: true, Flags: runnerFlags(),
		Usage:  "run the sweeps of this folder",
		Action: func(ctx *cliv2.Context) error { return serveFolder(ctx, c.executor) }}
}

// serveFolder runs the sweeps of this folder: in the process that does the work, or as the one that
// guards it.
func serveFolder(ctx *cliv2.Context, executor bool) error {
	if !executor {
		code, err := process.RunGuarded("sweep-executor")
		if err != nil {
			return &cli.Error{Code: cli.Machine, Err: err}
		}
		return cli.Code(code)
	}
	busy, err := cli.GPUBusyOf(ctx)
	if err != nil {
		return err
	}
	return local.Run(ctx.Context, ctx.Int("slots"), busy)
}

// attach attaches to the runner of this folder, and opens the folder's store.
func (c *command) attach(ctx context.Context, options []string) (*localFolder, error) {
	if err := local.Prepare(); err != nil {
		return nil, err
	}
	client := c.runnerClient()
	attached, err := local.Attach(ctx, client, options,
		func(text string) { fmt.Fprint(c.messages, text) })
	if err != nil {
		return nil, err
	}
	h, err := c.openFolder(ctx)
	if err != nil {
		attached.Leave()
		return nil, err
	}
	client.Environ = withValues(os.Environ())
	h.api, h.attached = client, attached
	return h, nil
}

// runnerClient returns a client of the runner of this folder.
func (c *command) runnerClient() *api.Client {
	client := named(local.Dial())
	client.Waiting = c.messages.Note
	return client
}

// withValues keeps the entries of an environment that are NAME=value; execve(2) takes others, too.
func withValues(environ []string) []string {
	return slices.DeleteFunc(environ, func(v string) bool { return !strings.Contains(v, "=") })
}

// company is what a sweep finds at a runner.
type company struct {
	open  []string // sweeps that run
	slots int      // 0: not known
	asked int      // with --slots; 0: not
	busy  string   // --gpu-busy, or --gpu-busy-above, if it is given
}

// beside asks a runner for its sweeps and slots. One whose program is another version is refused.
func (s *session) beside(ctx context.Context, m *api.Client) (c company, err error) {
	c.asked, c.busy = s.slots, s.busy
	health, err := m.Health(ctx)
	if err != nil {
		return c, err
	}
	if health.Program != cli.Version() || health.Version != task.Version {
		which := ""
		if health.Program != cli.Version() { // else they are not stamped
			which = fmt.Sprintf(" (%s; this is %s)", cli.Visible(health.Program), cli.Version())
		}
		return c, &cli.Error{Code: cli.Machine, Err: errors.New("the sweeps of this folder are run " +
			"by another version of run-tasks" + which),
			Remedy: "wait for it (`run-tasks follow`), stop it (`run-tasks pause --stop`), or " +
				"use another folder"}
	}
	sweeps, err := m.Sweeps(ctx, "", 0)
	if err != nil {
		return c, err
	}
	for _, other := range sweeps {
		if other.State == core.Open {
			c.open = append(c.open, other.ID)
		}
	}
	workers, err := m.Workers(ctx)
	if err == nil && len(workers) > 0 {
		c.slots = workers[0].Slots
	}
	return c, err
}

// text says with which sweeps one shares the runner, and which of its options do not count; "": with
// none.
func (c company) text(id string) string {
	others := slices.DeleteFunc(slices.Clone(c.open), func(o string) bool { return o == id })
	if len(others) == 0 {
		return ""
	}
	text := id + " runs behind " + human.List(others)
	if c.slots > 0 {
		text += ", on the same " + human.Plural(int64(c.slots), "slot")
	}
	if c.asked > 0 && c.asked != c.slots && c.slots > 0 {
		text += fmt.Sprintf(" (--slots %d is not used)", c.asked)
	}
	if c.busy != "" {
		text += " (" + c.busy + " is not used)"
	}
	return text
}

// runnerEnded returns why the runner ended before a sweep of this client was idle: what is kept, and
// the remedy. It is nil if the runner has not.
func (h *localFolder) runnerEnded(ctx context.Context, c *command, id string) error {
	if h.idle || !h.lost {
		return nil
	}
	why := h.attached.AwaitFailure()
	now, err := c.openFolder(ctx)
	if err == nil {
		defer now.close()
		_, err = now.reader.Sweep(ctx, id)
	}
	_, unknown := errors.AsType[*store.UnknownSweep](err)
	if e, none := errors.AsType[*cli.Error](err); unknown || none && e.Code == cli.Usage {
		return removedError(id)
	}
	if why != nil {
		return why
	}
	remedy := fmt.Sprintf("`%s resume %s` runs the rest", c.self, id)
	if err == nil {
		if s, err := now.Sweep(ctx, id, false); err == nil {
			done, _ := display.Tally(s.Summary)
			remedy = fmt.Sprintf("%s: %d of %s had ended, and their results are kept; %s", id, done,
				human.Plural(s.Total, "task"), remedy)
		}
	}
	return &cli.Error{Code: cli.Machine, Err: errors.New("the process that ran the tasks was " +
		"killed, or the machine had no memory left"), Remedy: remedy}
}
