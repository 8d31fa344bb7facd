package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/cmd/run-tasks/project"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// workersCommand is `run-tasks workers`: a master's workers, or a change of one.
func workersCommand(c *command) *cliv2.Command {
	flags := func(more ...cliv2.Flag) []cliv2.Flag {
		return append(append(locationFlags(), flagJSON()), more...)
	}
	return &cliv2.Command{Name: "workers", Usage: "list the workers of a master, or manage one",
		Flags: flags(), Action: onMaster(c, listWorkers),
		Description: `EXAMPLES:
   run-tasks workers
   # let gpu2 finish its tasks and start no new ones
   run-tasks workers drain gpu2`,
		Subcommands: []*cliv2.Command{
			{Name: "show", ArgsUsage: "WORKER", Flags: flags(), Action: onMaster(c, showWorker),
				Usage: "show what a worker runs, and its GPUs",
				Description: `EXAMPLES:
   run-tasks workers show gpu2`},
			{Name: "drain", ArgsUsage: "WORKER", Flags: flags(), Action: onMaster(c, changeWorker(drain)),
				Usage: "stop giving tasks to a worker",
				Description: `Running tasks finish.

EXAMPLES:
   run-tasks workers drain gpu2`},
			{Name: "resume", ArgsUsage: "WORKER", Flags: flags(), Action: onMaster(c, changeWorker(undrain)),
				Usage: "give tasks to a drained worker again",
				Description: `EXAMPLES:
   run-tasks workers resume gpu2`},
			{Name: "slots", ArgsUsage: "WORKER N", Flags: flags(), Action: resizeWorker(c),
				Usage: "set how many tasks a worker runs at a time",
				Description: `N is the number of slots. 0 restores the number set when the worker started.

EXAMPLES:
   run-tasks workers slots gpu2 4`},
			{Name: "restart", ArgsUsage: "WORKER", Action: onMaster(c, changeWorker(restart)),
				Usage: "restart a worker once its tasks have finished",
				Description: `The worker exits, and its supervisor, such as the restart policy of its
container, starts it again.

EXAMPLES:
   run-tasks workers restart gpu2
   # stop its tasks instead of waiting for them; they run again
   run-tasks workers restart gpu2 --now`,
				Flags: flags(cli.Switch("now",
					"stop its tasks; they run again, and no failure is counted"))},
			{Name: "forget", ArgsUsage: "WORKER", Flags: flags(), Action: onMaster(c, forgetWorker),
				Usage: "remove a worker that will not return",
				Description: `Removes its name and its queue. Tasks waiting for it are cancelled.

EXAMPLES:
   run-tasks workers forget gpu2`},
		}}
}

// workerChange changes a worker, and returns how it is then.
type workerChange func(ctx *cliv2.Context, m *remote, worker string) (core.Worker, error)

func drain(ctx *cliv2.Context, m *remote, worker string) (core.Worker, error) {
	return m.Drain(ctx.Context, worker, false)
}

func undrain(ctx *cliv2.Context, m *remote, worker string) (core.Worker, error) {
	return m.Drain(ctx.Context, worker, true)
}

func restart(ctx *cliv2.Context, m *remote, worker string) (core.Worker, error) {
	return m.Restart(ctx.Context, worker, ctx.Bool("now"))
}

// masterAction is what a command does with a master and its arguments.
type masterAction func(ctx *cliv2.Context, m *remote, t *terminal, args []string) error

// onMaster makes the action of a command about the master that the command line selects. Sweeps of
// this machine have none.
func onMaster(c *command, do masterAction) cliv2.ActionFunc {
	return func(ctx *cliv2.Context) error {
		args, err := arguments(ctx)
		if err != nil {
			return err
		}
		if locationOf(ctx) == project.Here {
			name := strings.TrimPrefix(ctx.Command.HelpName, "run-tasks ")
			what, _, _ := strings.Cut(name, " ")
			remedy := "infrainit sets up a cluster and writes cluster.yml; " +
				"or name a master: run-tasks --master SOCKET " + name
			return cli.Wrong(remedy, "sweeps on this machine have no %s", what)
		}
		m, err := c.dial(ctx)
		if err != nil {
			return err
		}
		defer m.close()
		return do(ctx, m, &c.terminal, args)
	}
}

// arguments returns the positional arguments, which must be as many as the command's usage names.
func arguments(ctx *cliv2.Context) ([]string, error) {
	args, names := ctx.Args().Slice(), strings.Fields(ctx.Command.ArgsUsage)
	if len(args) > len(names) {
		return nil, stray(args[len(names)])
	}
	if len(args) < len(names) {
		remedy := ctx.Command.HelpName + " " + ctx.Command.ArgsUsage
		return nil, cli.Wrong(remedy, "missing argument: %s", names[len(args)])
	}
	return args, nil
}

// listWorkers is `run-tasks workers`.
func listWorkers(ctx *cliv2.Context, m *remote, t *terminal, _ []string) error {
	all, err := m.Workers(ctx.Context)
	if err != nil {
		return err
	}
	return printWorkers(t, all, ctx.Bool("json"))
}

// showWorker is `run-tasks workers show`.
func showWorker(ctx *cliv2.Context, m *remote, t *terminal, args []string) error {
	all, err := m.Workers(ctx.Context)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(w core.Worker) bool { return w.Name == args[0] })
	if i < 0 {
		return cli.Wrong("run-tasks workers lists them", "there is no worker %s", args[0])
	}
	return printWorker(t, all[i], ctx.Bool("json"))
}

// changeWorker changes a worker and shows how it is then.
func changeWorker(change workerChange) masterAction {
	return func(ctx *cliv2.Context, m *remote, t *terminal, args []string) error {
		w, err := change(ctx, m, args[0])
		if err != nil {
			return err
		}
		return printWorkers(t, []core.Worker{w}, ctx.Bool("json"))
	}
}

// resizeWorker makes the action of `run-tasks workers slots`.
func resizeWorker(c *command) cliv2.ActionFunc {
	return func(ctx *cliv2.Context) error {
		args, err := arguments(ctx)
		if err != nil {
			return err
		}
		slots, err := strconv.Atoi(args[1])
		if err != nil || slots < 0 {
			return cli.Wrong("0 is what the worker was started with",
				"invalid number of slots %q", args[1])
		}
		return onMaster(c, changeWorker(func(ctx *cliv2.Context, m *remote,
			worker string) (core.Worker, error) {
			return m.Resize(ctx.Context, worker, slots)
		}))(ctx)
	}
}

// forgetWorker is `run-tasks workers forget`.
func forgetWorker(ctx *cliv2.Context, m *remote, t *terminal, args []string) error {
	if err := m.Forget(ctx.Context, args[0]); err != nil {
		return err
	}
	if ctx.Bool("json") {
		return encode(t.stdout, map[string]string{"forgot": args[0]})
	}
	fmt.Fprintln(t.stdout, "forgot "+args[0])
	return nil
}

func printWorkers(t *terminal, all []core.Worker, asJSON bool) error {
	if asJSON {
		for _, w := range all {
			if err := encode(t.stdout, w); err != nil {
				return err
			}
		}
		return nil
	}
	if len(all) == 0 {
		fmt.Fprintln(t.stdout, "the master has no workers")
		return nil
	}
	table := cli.NewTable("WORKER", "HOST", "STATE", "SLOTS", "GPUS", "RUNNING", "WAITING", "CPU",
		"SEEN", "")
	var kept []string
	for _, w := range all {
		table.Add(w.Name, w.Host, w.State, site.Slots(w), site.GPUs(w), strconv.Itoa(len(w.Running)),
			strconv.Itoa(w.Waiting), busyCores(w), seenText(w), workerNote(w))
		kept = append(kept, site.GPUsKept(w)...)
	}
	table.OmitEmpty("GPUS")
	if err := table.Write(t.stdout); err != nil {
		return err
	}
	for _, line := range kept {
		fmt.Fprintln(t.stdout, cli.Visible(line))
	}
	return nil
}

// printWorker shows one worker: how it is, what it runs, and its GPUs.
func printWorker(t *terminal, w core.Worker, asJSON bool) error {
	if asJSON {
		return encode(t.stdout, w)
	}
	state := w.State
	if note := workerNote(w); note != "" {
		state += ": " + note
	}
	t.field("worker", w.Name)
	t.field("host", w.Host)
	t.field("state", state)
	t.field("slots", fmt.Sprintf("%s, %d running, %d waiting", site.Slots(w), len(w.Running),
		w.Waiting))
	if cpu := busyCores(w); cpu != "" {
		t.field("cpu", cpu)
	}
	if seen := seenText(w); seen != "" {
		t.field("seen", seen)
	}
	if w.Program != "" {
		t.field("version", w.Program)
	}
	if w.Image != nil {
		t.field("image", *w.Image)
	}
	for _, b := range w.Running {
		t.field("running", fmt.Sprintf("%s in slot %d since %s", task.ID{Sweep: b.Sweep,
			Index: b.Index}, b.Slot, b.Started.In(timeZone()).Format(zoned)))
	}
	if gpus := site.GPUs(w); gpus != "" {
		t.field("gpus", gpus+" given to tasks")
		fmt.Fprintln(t.stdout)
		if err := site.WorkerGPUs(w).Write(t.stdout); err != nil {
			return err
		}
	}
	for _, line := range site.GPUsKept(w) {
		fmt.Fprintln(t.stdout, cli.Visible(line))
	}
	return nil
}

// busyCores is how busy the host of a worker is; "" where that is not known.
func busyCores(w core.Worker) string {
	if w.Load == nil {
		return ""
	}
	return fmt.Sprintf("%.0f%%", 100*w.Load.CPU)
}

// seenText is when a worker was last heard of; "" if it never was.
func seenText(w core.Worker) string {
	if w.Seen == nil {
		return ""
	}
	return w.Seen.In(timeZone()).Format(time.TimeOnly)
}

// workerNote is why a worker is in its state, or else what people should know of it.
func workerNote(w core.Worker) string {
	switch {
	case w.Reason != nil:
		return *w.Reason
	case w.Unconfined != nil:
		return "tasks are not confined: " + *w.Unconfined
	}
	return ""
}
