package main

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/infra/layout"
	"mlframework/sweep/worker"
	"mlframework/sweep/worker/process"
)

// confine keeps tasks from what their worker has, as far as the kernel can. Where it cannot they
// run all the same, and the worker reports why: hosts have the kernels that they have.
func confine(ctx *cliv2.Context, keeper *process.Keeper, o *worker.Options,
	log *slog.Logger) error {
	if !ctx.Bool("confine") {
		return nil
	}
	c, err := confinement(ctx)
	if err != nil {
		return err
	}
	c.Writable = []string{o.Home}
	if err := keeper.Confine(c); err != nil {
		return &cli.Error{Code: cli.Machine, Err: err}
	}
	if err := process.CanConfine(); err != nil {
		o.Unconfined = err.Error()
		log.Warn("tasks are not fully confined", "reason", err)
	}
	warnOfMode(ctx.String("credentials"), log)
	return nil
}

// warnOfMode warns of credentials that other users may read. Landlock does not hold modes: a task
// can open what its user owns. A file that another user owns may be for its group.
func warnOfMode(credentials string, log *slog.Logger) {
	info, err := os.Stat(credentials)
	if err != nil {
		return // who reads the file says so
	}
	others := fs.FileMode(0o077)
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) != os.Geteuid() {
		others = 0o007
	}
	if info.Mode()&others != 0 {
		log.Warn("other users may read the credentials; make new ones if a task changed the mode",
			"file", credentials, "mode", info.Mode().Perm(), "remedy", "chmod 600 "+credentials)
	}
}

// confinement is what --confine keeps tasks from. It hides the credentials' folder and not only the
// file: who renews them writes others beside it. Its error says which folders cannot be hidden
// where they are.
func confinement(ctx *cliv2.Context) (c process.Confinement, err error) {
	if process.Privileged() {
		return c, cli.Wrong("start the worker as a user without privileges, or without --confine",
			"--confine does not hold tasks of root, or of a worker with capabilities: "+
				"they can change the system")
	}
	paths := map[string]string{"outputs": ctx.String("outputs"),
		"credentials": ctx.String("credentials"), "revisions": ctx.String("revisions"),
		"state": ctx.String("state"), "home": os.Getenv("HOME"), "tmp": os.TempDir(),
		"secrets": ctx.String("secrets-folder")}
	if paths["program"], err = os.Executable(); err != nil {
		return c, &cli.Error{Code: cli.Machine, Err: err}
	}
	for name, path := range paths {
		if path == "" {
			delete(paths, name)
		} else if paths[name], err = filepath.Abs(path); err != nil {
			return c, &cli.Error{Code: cli.Machine, Err: err}
		}
	}
	if paths["state"] == "" {
		return c, cli.Wrong("name one outside of the outputs",
			"--confine needs --state: tasks may read what is in the outputs")
	}
	secrets := filepath.Dir(paths["credentials"])
	if attempts := paths["secrets"]; attempts == "/dev/shm" || attempts != "" &&
		within(paths["tmp"], attempts) {
		return c, cli.Wrong("name a folder in it", "--confine hides the folder of "+
			"--secrets-folder from tasks, and they need %s for themselves", attempts)
	}
	for _, name := range []string{"outputs", "revisions", "state", "home", "tmp", "program"} {
		if path, there := paths[name]; there && within(path, secrets) {
			return c, cli.Wrong("put the file of --credentials into a folder of its own",
				"--confine hides the folder of --credentials from tasks, and %s is in %s", path,
				secrets)
		}
	}
	for name, path := range map[string]string{"credentials": secrets, "state": paths["state"]} {
		if within(path, paths["outputs"]) {
			return c, cli.Wrong("name a folder outside of it with --"+name,
				"--confine hides %s from tasks, and it is in the outputs, %s, which they may read",
				path, paths["outputs"])
		}
	}
	hidden := []string{secrets, paths["state"]}
	if paths["secrets"] != "" {
		hidden = append(hidden, paths["secrets"])
	}
	if worker.GPULockFolder(os.Environ()) == layout.GPULocksAt {
		hidden = append(hidden, layout.GPULocksAt)
	}
	return process.Confinement{
		Hidden:   hidden,
		ReadOnly: []string{paths["outputs"], paths["revisions"], paths["program"]},
	}, nil
}

// within reports whether a path is a folder or in it.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}
