package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	cliv2 "github.com/urfave/cli/v2"
	"golang.org/x/term"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/cmd/run-tasks/local"
	"mlframework/infra/docker"
	"mlframework/infra/layout"
	"mlframework/nvdocker"
	"mlframework/sweep/api"
	"mlframework/sweep/task"
)

func execCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "exec", ArgsUsage: "TASK [-- COMMAND...]",
		Action: onSource(c, readExecOptions),
		Usage:  "run a command in a task's folder and environment",
		Flags:  locationFlags(),
		Description: `Runs COMMAND, or a shell by default, where the newest attempt of the task runs
or ran: in its folder, with its parameters, its GPUs and the env of its
definition. On a cluster, COMMAND runs in the worker's container. Secrets and
TASK_ID are not set. Once the attempt has ended, its folder contains only the
files that it wrote.

EXAMPLES:
   run-tasks exec run_training-1/7
   run-tasks exec run_training-1/7 -- nvidia-smi`}
}

// execOptions are the options of `run-tasks exec`.
type execOptions struct {
	task string   // SWEEP/INDEX, or a sweep of one task
	argv []string // none: a shell
}

func readExecOptions(ctx *cliv2.Context) (o execOptions, err error) {
	args := ctx.Args().Slice()
	if len(args) == 0 {
		return o, cli.Wrong("run-tasks exec SWEEP/INDEX", "missing argument: TASK")
	}
	o.task, o.argv = args[0], args[1:]
	if len(o.argv) > 0 && o.argv[0] == "--" {
		o.argv = o.argv[1:]
	}
	return o, nil
}

// run runs a command where a task runs or ran.
func (o execOptions) run(ctx context.Context, src source, t *terminal) error {
	s, of, err := findTask(ctx, t, src, o.task, "exec")
	if err != nil {
		return err
	}
	if !began(of) {
		return cli.Wrong("", "%s has not started, and has no folder", of.Row.ID)
	}
	m, is := src.(*remote)
	switch {
	case !is:
		return execHere(of, s.Record.Recipe.Workdir, execEnviron(s, of), o.argv)
	case m.cluster == nil:
		return cli.Wrong("run the command on the worker's host",
			"exec reaches workers of a cluster that infrainit started, and tasks of this machine")
	}
	return m.exec(ctx, of, s.Record.Recipe.Workdir, execEnviron(s, of), o.argv)
}

// execEnviron returns what a task's newest attempt has beside the environment of its worker.
func execEnviron(s api.Sweep, t api.Task) (environ []string) {
	for _, v := range inputsOf(s, t).Environment {
		environ = append(environ, v.Name+"="+v.Value)
	}
	var a nvdocker.Assignment
	for _, g := range t.Attempts[len(t.Attempts)-1].GPUs {
		a.Devices = append(a.Devices, nvdocker.Device{UUID: g.UUID, Number: g.Index,
			Split: strings.Contains(g.Index, ":")})
	}
	if len(a.Devices) > 0 {
		environ = append(environ, a.Environment()...)
	}
	return environ
}

// execHere replaces this process by a command in the folder of a task of this machine.
func execHere(t api.Task, workdir string, environ, argv []string) error {
	id, err := task.ParseID(t.Row.ID)
	if err != nil {
		return err
	}
	folder, err := filepath.Abs(local.TaskFolder(id))
	if err != nil {
		return err
	}
	if err := os.Chdir(folder); err != nil {
		return cli.Wrong("", "the folder of %s no longer exists: %s", t.Row.ID, folder)
	}
	if err := os.Chdir(workdir); workdir != "" && err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if len(argv) == 0 {
		argv = []string{os.Getenv("SHELL")}
		if argv[0] == "" {
			argv[0] = "sh"
		}
	}
	program, err := exec.LookPath(argv[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return cli.Wrong("", "%w", err)
	}
	environ = append(append(os.Environ(), environ...), "OUTPUT_DIR="+folder)
	if wd, err := os.Getwd(); err == nil {
		environ = append(environ, "PWD="+wd)
	}
	return fmt.Errorf("start %s: %w", program, syscall.Exec(program, argv, lastOfEach(environ)))
}

// lastOfEach leaves out variables that are set again later: which of two counts depends on the
// program.
func lastOfEach(environ []string) []string { return (&exec.Cmd{Env: environ}).Environ() }

// exec runs a command in the container of the worker that has a task.
func (m *remote) exec(ctx context.Context, t api.Task, workdir string, environ,
	argv []string) error {
	id, err := task.ParseID(t.Row.ID)
	if err != nil {
		return err
	}
	folder := path.Join(layout.OutputsAt, id.Sweep, strconv.FormatInt(id.Index, 10))
	command := docker.Command{Argv: argv, Env: append(environ, "OUTPUT_DIR="+folder), Dir: folder}
	if t.Row.State == task.Running.String() {
		command.Dir = path.Join(folder, workdir)
	}
	if len(argv) == 0 {
		command.Argv = []string{"sh", "-c", "command -v bash >/dev/null && exec bash; exec sh"}
	}
	var stdin io.Reader = os.Stdin
	switch in, out := int(os.Stdin.Fd()), int(os.Stdout.Fd()); {
	case term.IsTerminal(in) && term.IsTerminal(out):
		was, err := term.MakeRaw(in)
		if err != nil {
			return err
		}
		defer term.Restore(in, was)
		resized := make(chan os.Signal, 1)
		signal.Notify(resized, syscall.SIGWINCH)
		command.TTY = &docker.TTY{Resized: resized, Size: func() (height, width int) {
			width, height, _ = term.GetSize(out)
			return height, width
		}}
		command.Env = append(command.Env, "TERM="+os.Getenv("TERM"))
	case term.IsTerminal(in):
		stdin = nil
	}
	code, err := m.cluster.Exec(ctx, t.Attempts[len(t.Attempts)-1].Worker, command, stdin,
		os.Stdout, os.Stderr)
	switch {
	case err != nil:
		return site.Explain(err)
	case code != 0:
		return cli.Code(code)
	}
	return nil
}
