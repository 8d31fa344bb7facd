package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/project"
	"mlframework/config"
	"mlframework/sweep/api"
	"mlframework/sweep/definition"
	"mlframework/sweep/human"
)

// locationOf returns which a command line means: --local wins, then a socket that is named, then
// cluster.yml. Without any of them it is this folder.
func locationOf(ctx *cliv2.Context) project.Location {
	switch {
	case ctx.Bool("local"):
		return project.Here
	case socketOf(ctx) != "":
		return project.AtSocket
	case ctx.String("config") != "":
		return project.InCluster
	}
	if _, ok := config.Find(); !ok {
		return project.Here
	}
	return project.InCluster
}

// socketOf is the socket that a command line names; --config names a cluster instead.
func socketOf(ctx *cliv2.Context) string {
	if ctx.IsSet("master") || !ctx.IsSet("config") {
		return cmp.Or(ctx.String("master"), os.Getenv(masterVariable))
	}
	return ""
}

// presumed reports whether a command is about this machine because nothing names another place.
func presumed(ctx *cliv2.Context) bool { return locationOf(ctx) == project.Here && !ctx.Bool("local") }

// checkLocation refuses a new sweep where nothing says what to run, or where cluster.yml lies with
// the project and not here: its cluster may be meant.
func checkLocation(ctx *cliv2.Context, name string) error {
	if !presumed(ctx) {
		return nil
	}
	dir := projectFolder(ctx)
	if !hasProject(dir) {
		if near := project.NearestCommand(name); near != "" && dir == "." {
			return nil // a command was meant: who reads the project says so
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() ||
			exists(filepath.Join(dir, "tasks.yaml")) {
			_, _, err = definition.Load(dir, nil)
			return &cli.Error{Code: cli.Usage, Err: err}
		}
		neither := fmt.Sprintf("there is no %s and no %s in this folder or above",
			definition.FileName, config.FileName)
		if dir != "." {
			neither = fmt.Sprintf("there is no %s in %s, and no %s in this folder or above",
				definition.FileName, cli.Visible(dir), config.FileName)
		}
		if below := below(dir, hasProject); len(below) > 0 {
			return cli.Wrong(below[0]+" has one: run-tasks -d "+
				human.CommandLine([]string{below[0], name}), "%s", neither)
		}
		return cli.Wrong("on this machine: go to the project's folder, or name it: run-tasks -d "+
			"FOLDER "+name+" (run-tasks init writes a tasks.yml for scripts)\n"+
			"  without a project: run-tasks -- python3 train.py lr=0.1,0.01\n"+
			"  on other machines: infrainit -d FOLDER sets up a cluster and writes "+
			config.FileName+" here",
			"%s", neither)
	}
	if file, ok := config.In(dir); ok {
		words := human.CommandLine([]string{"--config", file, "-d", dir, name})
		return cli.Wrong("on its cluster: run-tasks "+words+"; on this machine: run-tasks --local "+
			human.CommandLine([]string{"-d", dir, name}),
			"where should %s run? %s is not in this folder or above, but in %s", name,
			filepath.Base(file), cli.Visible(dir))
	}
	return nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// nameFolder lets hints say --local where they would mean another place without it.
func (c *command) nameFolder(isLocal bool) {
	_, found := config.Find()
	if isLocal && (found || os.Getenv(masterVariable) != "") {
		c.self = strings.Replace(c.self, "run-tasks", "run-tasks --local", 1)
	}
}

// dial makes the source of a master. Hints name it as the user did.
func (c *command) dial(ctx *cliv2.Context) (*remote, error) {
	if locationOf(ctx) == project.InCluster {
		return c.dialCluster(ctx)
	}
	socket := socketOf(ctx)
	if ctx.IsSet("master") {
		c.self = "run-tasks --master " + human.CommandLine([]string{socket})
	}
	return c.newRemote(named(api.Dial(socket))), nil
}

// projectOf is the project's folder: -d, else that of cluster.yml for a cluster, else the nearest
// folder with a project.
func projectOf(ctx *cliv2.Context) string {
	if locationOf(ctx) != project.InCluster || ctx.IsSet("d") {
		return projectFolder(ctx)
	}
	saved, _, err := config.Load(cli.FileSource(ctx))
	if err == nil && saved.ProjectHere() != "" {
		return saved.ProjectHere()
	}
	return "." // dialling says what is wrong
}

// masterVariable names a master's socket, as --master does.
const masterVariable = "MLFRAMEWORK_MASTER"
