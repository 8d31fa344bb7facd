package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/queue/amqp"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
	"mlframework/sweep/worker/process"
)

func (c *command) workerCommand() *cliv2.Command {
	host, _ := os.Hostname()
	return &cliv2.Command{
		Name: "worker", Usage: "run tasks on this host", Action: c.worker,
		Description: "Runs until SIGTERM, then stops its tasks within their grace period and " +
			"returns\nthem to the master, which runs them again. A second signal stops the " +
			"worker\nimmediately. While the broker is unavailable, running tasks continue, and " +
			"the\nworker logs the reason and keeps trying to connect.\n\n" +
			"Exits with code 5 if another worker has the same name or uses one of its\n" +
			"folders, or took its name while it was disconnected. Exits with code 6 after\n" +
			"`run-tasks workers restart NAME`. A supervisor, such as the container's restart\n" +
			"policy, must then start it again.\n\n" + `EXAMPLES:
   sweepd worker --name gpu2 --slots 4 --outputs /data/outputs \
     --revisions /data/files --broker amqps://gpu1:5671/ --ca ca.pem \
     --credentials users/worker-gpu2`,
		Flags: append([]cliv2.Flag{
			&cliv2.StringFlag{Name: "name", Value: host, DefaultText: "name of the host",
				Usage: "unique `NAME` of the worker"},
			&cliv2.StringFlag{Name: "host", Value: host, DefaultText: "name of the host",
				Usage: "`NAME` of the host in output and for tasks"},
			&cliv2.IntFlag{Name: "slots", Value: runtime.NumCPU(), DefaultText: "number of cores",
				Usage: "run up to `N` tasks at a time; if N is the number of cores, tasks " +
					"with GPUs need no slot"},
			&cliv2.StringSliceFlag{Name: "label", DefaultText: "none",
				Usage: "`NAME=VALUE` of the host, for `on` in tasks.yml; can be given more " +
					"than once"},
			&cliv2.StringFlag{Name: "cluster", DefaultText: "none",
				Usage: "`NAME` of the cluster, shown to others waiting for GPUs on this host"},
			&cliv2.StringFlag{Name: "outputs",
				Usage: "`FOLDER` for the outputs of this worker alone; tasks run in " +
					"FOLDER/SWEEP/INDEX"},
			&cliv2.StringFlag{Name: "revisions", Usage: "`FOLDER` with project files"},
			&cliv2.StringFlag{Name: "state", DefaultText: "OUTPUTS/.worker-NAME",
				Usage: "`FOLDER` for persistent data: events not yet sent to the broker, and a " +
					"home folder for programs without one"},
			&cliv2.StringFlag{Name: "secrets-folder",
				DefaultText: "/dev/shm, or STATE/secrets with --confine",
				Usage: "`FOLDER`, preferably in memory, for the secrets of running attempts; " +
					"with --confine, an attempt can read only its own"},
			cli.Switch("confine", "deny tasks access to credentials, state, this process and the "+
				"outputs of other tasks, if the kernel supports Landlock and seccomp; does not "+
				"apply to root, nor to other files and sockets of the user; see docs/security.md"),
			&cliv2.StringFlag{Name: "image",
				Usage: "`IMAGE` of the worker's container, with digest; recorded in sweeps"},
			&cliv2.StringFlag{Name: "environment",
				Usage: "`JSON` description of the worker's container, used to detect drift"},
		}, append(cli.GPUBusyFlags(""), brokerFlags()...)...),
	}
}

func (c *command) worker(ctx *cliv2.Context) error {
	if err := plain(ctx, "outputs", "revisions", "broker", "credentials"); err != nil {
		return err
	}
	if ctx.Int("slots") < 1 {
		return cli.Wrong("", "--slots must be at least 1")
	}
	if ctx.Bool("confine") {
		if _, err := confinement(ctx); err != nil {
			return err
		}
	}
	if err := process.ProtectMemory(); err != nil {
		return &cli.Error{Code: cli.Machine, Err: err}
	}
	// who is process 1 takes everything with it, and needs no second process
	if c.executor || os.Getpid() == 1 {
		return c.work(ctx)
	}
	code, err := process.RunGuarded("sweep-executor")
	if killed, ok := errors.AsType[*process.Killed](err); ok {
		return &cli.Error{Code: code, Err: killed, Remedy: "its tasks were ended with it; start " +
			"the worker again, and they run again"}
	} else if err != nil {
		return err
	}
	return cli.Code(code)
}

// memory is what the Go runtime tries to stay below, in bytes, with projects of a few files: a
// worker is small beside the programs whose host it is on.
const memory = 14 << 20

func (c *command) work(ctx *cliv2.Context) (err error) {
	log := cli.Log(c.stderr)
	held := newLocks(ctx.String("name"), ctx.String("host"), c.executor, log)
	defer held.release()
	if err := held.name(ctx.Context, ctx.String("name"), ctx.String("broker")); err != nil {
		return err
	}
	if err := held.elsewhere(ctx.Context, ctx.String("name"), brokerOptions(ctx, log)); err != nil {
		return err
	}
	o, err := options(ctx, log)
	if err != nil {
		return err
	}
	o.GPUHolder = gpuHolder(ctx.String("name"), ctx.String("cluster"), held.started)
	for _, folder := range slices.Compact([]string{o.Outputs, filepath.Dir(o.Spool)}) {
		if err := held.folder(ctx.Context, folder); err != nil {
			return err
		}
	}
	if err := held.apart(o.Outputs); err != nil {
		return err
	}
	if err := worker.EndLeftovers(ctx.Context, o.Name, o.Outputs, o.SecretsFolder,
		log); err != nil {
		return err
	}
	keeper, err := process.NewKeeper(log)
	if err != nil {
		return err
	}
	o.Keeper = keeper
	if err := confine(ctx, keeper, &o, log); err != nil {
		return err
	}
	cli.Tune(ctx.Int("slots"))
	go cli.BoundMemory(ctx.Context, memory)
	port, err := amqp.NewWorkerEndpoint(o.Name, brokerOptions(ctx, log))
	if err != nil {
		return cli.Wrong("", "%w", err)
	}
	defer port.Close()
	running, stop := cli.Interrupts(ctx.Context, func() {
		keeper.KillAll()
		os.Exit(cli.Interrupted)
	})
	defer stop()
	log.Info("worker started", "name", o.Name, "slots", ctx.Int("slots"), "version", o.Program)
	ended := worker.New(port, o).Run(running)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx.Context), 10*time.Second)
	defer cancel()
	err = keeper.Close(closing)
	switch ended {
	case worker.Restart:
		err = errors.Join(err, cli.Code(startAgain))
	case worker.NameTaken:
		err = errors.Join(err, &cli.Error{Code: cli.Machine,
			Err: fmt.Errorf("another process has the name of this worker, %s, and began later",
				o.Name),
			Remedy: "let only one of them run, or give each a name of its own: --name"})
	}
	return err
}

// startAgain is the exit code of a worker that was asked to start again: other than 0, so that
// supervisors which restart only what fails do so, too.
const startAgain = 6

func options(ctx *cliv2.Context, log *slog.Logger) (o worker.Options, err error) {
	o = worker.Options{Name: ctx.String("name"), Host: ctx.String("host"), Slots: ctx.Int("slots"),
		Inherited: os.Environ(), GPUs: worker.DetectGPUs, HideGPUs: true,
		GPULocks: worker.GPULockFolder(os.Environ()),
		Program:  cli.Version(), Image: ctx.String("image"), Container: ctx.String("environment"),
		Log: log}
	busy, err := cli.GPUBusyOf(ctx)
	if err != nil {
		return o, err
	}
	o.GPUBusyAbove, o.IgnoreGPULocks = busy.Above, busy.IgnoreLocks
	if o.Slots == runtime.NumCPU() {
		o.Slots = 0
	}
	if o.Labels, err = labels(ctx.StringSlice("label")); err != nil {
		return o, err
	}
	revisions, err := folder(ctx.String("revisions"))
	if err != nil {
		return o, err
	}
	if o.Outputs, err = folder(ctx.String("outputs")); err != nil {
		return o, err
	}
	state := ctx.String("state")
	if state == "" {
		state = filepath.Join(o.Outputs, ".worker-"+o.Name)
	}
	if state, err = folder(state); err != nil {
		return o, err
	}
	if o.Home, err = folder(filepath.Join(state, "home")); err != nil {
		return o, err
	}
	o.Spool = filepath.Join(state, "events")
	secrets := ctx.String("secrets-folder")
	if secrets == "" && ctx.Bool("confine") {
		// Confined tasks cannot open files of the state folder. Hiding a folder in /dev/shm would
		// also prevent them from creating shared memory there.
		secrets = filepath.Join(state, "secrets")
	}
	if o.SecretsFolder, err = folder(secrets); err != nil {
		return o, err
	}
	o.Revision = func(revision string) (string, error) {
		folder := filepath.Join(revisions, revision)
		if _, err := os.Stat(folder); err != nil {
			return "", &worker.MissingRevision{Revision: revision, Err: err}
		}
		return folder, nil
	}
	return o, nil
}

// labels returns the labels of the host, which are given as NAME=VALUE.
func labels(given []string) (map[string]string, error) {
	all := map[string]string{}
	for _, label := range given {
		name, value, ok := strings.Cut(label, "=")
		if !ok {
			return nil, cli.Wrong("write --label disk=fast", "--label: %q is not NAME=VALUE", label)
		}
		all[name] = value
	}
	if err := task.CheckLabels(all); err != nil {
		return nil, cli.Wrong("", "--label: %w", err)
	}
	return all, nil
}
