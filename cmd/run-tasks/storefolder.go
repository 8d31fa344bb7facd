package main

import (
	"cmp"
	"os"
	"path/filepath"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/local"
	"mlframework/cmd/run-tasks/project"
	"mlframework/config"
	"mlframework/sweep/definition"
	"mlframework/sweep/human"
)

// storeVariable names the folder whose sweeps commands are about, as --store does.
const storeVariable = "MLFRAMEWORK_STORE"

func flagStore() cliv2.Flag {
	return &cliv2.StringFlag{Name: "store", EnvVars: []string{storeVariable},
		DefaultText: "the project's",
		Usage:       "on this machine: keep sweeps and outputs in `FOLDER`"}
}

// useStore finds the folder whose sweeps a command about existing sweeps is about: the one that
// --store names, or the one that -d names, or the nearest that has sweeps or a project, from the
// current one upwards. With --updated and --reread, -d may name a project that has no sweeps.
func (c *command) useStore(ctx *cliv2.Context) error {
	folder, named := ctx.String("store"), ctx.String("d")
	cluster := filepath.Join(named, config.FileName)
	switch at := locationOf(ctx); {
	case at == project.InCluster && named != "" && !ctx.IsSet("config") && local.HasStore(named):
		return cli.Wrong("add --local for these, or leave out -d", "%s has sweeps on this machine, "+
			"and commands here use the cluster of %s", cli.Visible(named), config.FileName)
	case at != project.Here:
		return nil
	case named != "" && exists(cluster) && !local.HasStore(named) && !ctx.Bool("local"):
		return cli.Wrong("add --config "+human.CommandLine([]string{cluster}),
			"the sweeps of %s are on a cluster", cli.Visible(named))
	}
	if folder == "" {
		folder = nearestStore()
		if named != "" && (local.HasStore(named) || !ctx.Bool("updated") && !ctx.Bool("reread")) {
			folder = named
		}
	}
	c.use(folder)
	return nil
}

// use makes a folder the one whose sweeps this command is about. Hints name it where commands would
// not find it.
func (c *command) use(folder string) {
	local.Use(folder)
	found := os.Getenv(storeVariable)
	if found == "" {
		found = nearestStore()
	}
	if !samePath(folder, found) {
		option := "--store"
		if hasProject(folder) {
			option = "-d"
		}
		c.self = "run-tasks " + human.CommandLine([]string{option, folder})
	}
}

// nearestStore is the folder whose sweeps commands are about that name none.
func nearestStore() string {
	return nearest(func(dir string) bool { return local.HasStore(dir) || hasProject(dir) })
}

// samePath reports whether two paths lead to the same folder.
func samePath(a, b string) bool {
	one, err := filepath.Abs(a)
	if err != nil {
		return false
	}
	other, err := filepath.Abs(b)
	return err == nil && one == other
}

// useNewStore finds the folder that keeps a new sweep: the one that --store names, or that of its
// project.
func (c *command) useNewStore(ctx *cliv2.Context) {
	if locationOf(ctx) != project.Here {
		return
	}
	folder := ctx.String("store")
	switch {
	case folder != "":
	case c.argv != nil && (ctx.IsSet("d") || local.HasStore(".")):
		folder = cmp.Or(ctx.String("d"), ".")
	default:
		folder = projectFolder(ctx)
	}
	c.use(folder)
	if ctx.String("store") == "" && local.HasStore(".") && !samePath(folder, ".") {
		c.note("new sweeps of this project are kept in " + folder + "; `run-tasks -d . ls` " +
			"lists those of the current folder")
	}
}

// projectFolder is the folder that -d names, or the nearest with a project, from the current one
// upwards; the current one if there is none.
func projectFolder(ctx *cliv2.Context) string {
	if ctx.IsSet("d") {
		return ctx.String("d")
	}
	return nearest(hasProject)
}

func hasProject(dir string) bool { return exists(filepath.Join(dir, definition.FileName)) }

// below returns the folders in a folder that have something.
func below(folder string, has func(dir string) bool) (found []string) {
	entries, _ := os.ReadDir(folder) // one that cannot be read has none
	for _, e := range entries {
		if dir := filepath.Join(folder, e.Name()); e.IsDir() && has(dir) {
			found = append(found, dir)
		}
	}
	return found
}

// nearest returns the nearest folder, from the current one upwards, that has something, as a path
// relative to the current folder; ".", if there is none. It does not look above the user's home.
func nearest(has func(dir string) bool) string {
	for dir := range config.Upward() {
		if has(dir) {
			return dir
		}
	}
	return "."
}
