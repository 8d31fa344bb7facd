package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/cmd/run-tasks/local"
	"mlframework/infra"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// fetched is what fetch says of one host, as JSON.
type fetched struct {
	Host    string   `json:"host"`
	Files   int      `json:"files"`
	Bytes   int64    `json:"bytes"`
	Had     int      `json:"had"`
	Skipped []string `json:"skipped"`
}

func (c *command) fetch(ctx *cliv2.Context) error {
	t, err := checkFetch(ctx)
	if err != nil {
		return err
	}
	work, stop := cli.Interrupts(ctx.Context, func() { os.Exit(cli.Interrupted) })
	defer stop()
	src, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer src.close()
	s, err := fetchedSweep(work, src, t.sweep, ctx.Int("top"))
	if err != nil {
		return err
	}
	w, err := outputsOf(work, ctx, src, s, t)
	if err != nil {
		return err
	}
	w.Files = ctx.StringSlice("files")
	if text := w.chosen(s, ctx.Int("top"), ctx.String("where")); text != "" {
		c.print([]string{text})
	}
	if err := makeResults(ctx.String("to")); err != nil {
		return err
	}
	large := c.confirmsFetch(work, ctx.Bool("yes"))
	var done []infra.Fetched
	if m, ok := src.(*remote); ok {
		done, err = m.fetch(work, w, ctx.String("to"), large)
	} else {
		done, err = fetchHere(work, w, ctx.String("to"), large)
	}
	if errors.Is(err, cli.ErrInterrupted) {
		fmt.Fprintln(c.stderr, "interrupted; run it again to continue")
		return cli.Code(cli.Interrupted)
	}
	missing := w.missingFolders(done)
	some := slices.ContainsFunc(done, func(d infra.Fetched) bool { return d.Files+d.Had > 0 })
	if err == nil && missing == nil && len(w.Files) > 0 && !some {
		return &cli.Error{Code: cli.Failed, Err: fmt.Errorf("no output of the selected tasks of "+
			"%s matches %s", s.ID, enumerated(w.Files)),
			Remedy: "patterns are as in a .gitignore file, below the task's folder; without " +
				"--files everything is copied"}
	}
	if (err != nil || missing != nil) && !ctx.Bool("json") {
		// a host from which nothing was copied gets no line
		done = slices.DeleteFunc(done, func(d infra.Fetched) bool {
			return d.Files+d.Had == 0 && len(d.Skipped) == 0
		})
	}
	var unmatched error
	if err == nil && ctx.Int("top") > 0 && len(w.Files) > 0 {
		unmatched = w.unmatchedTasks(done)
	}
	return errors.Join(c.printFetched(ctx, filepath.Join(ctx.String("to"), s.ID), done),
		failedFetch(err), missing, unmatched)
}

// missingFolders returns an error that names the tasks that have started but whose folders no
// longer exist on their hosts; nil if there are none.
func (w fetchPlan) missingFolders(done []infra.Fetched) error {
	var texts []string
	for _, d := range done {
		var ids []string
		first := ""
		for _, i := range d.MissingFolders {
			if w.begun[i] {
				first = cmp.Or(first, path.Join(d.Folder, strconv.FormatInt(i, 10)))
				ids = append(ids, task.ID{Sweep: w.Sweep, Index: i}.String())
			}
		}
		if n := len(ids); n > 0 {
			texts = append(texts, fmt.Sprintf("the %s of %s no longer %s on %s: %s%s",
				pick(n, "folder", "folders"), enumeratedFirst(ids), pick(n, "exists", "exist"),
				d.Host, first, pick(n, "", ", ...")))
		}
	}
	if len(texts) == 0 {
		return nil
	}
	slices.Sort(texts)
	return &cli.Error{Code: cli.Failed, Err: errors.New(strings.Join(texts, "\n"))}
}

// unmatchedTasks returns an error that names the tasks of which no file matches; nil if there are
// none. Users who fetch the best tasks expect files of each.
func (w fetchPlan) unmatchedTasks(done []infra.Fetched) error {
	has := map[int64]bool{}
	for _, d := range done {
		for _, index := range slices.Concat(d.Tasks, d.MissingFolders) {
			has[index] = true
		}
	}
	var names []string
	for _, indexes := range w.hosts {
		for _, index := range indexes {
			if !has[index] {
				names = append(names, task.ID{Sweep: w.Sweep, Index: index}.String())
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.SortFunc(names, human.CompareNatural)
	return &cli.Error{Code: cli.Failed, Err: fmt.Errorf("%s: no output matches %s",
		enumeratedFirst(names), enumerated(w.Files)),
		Remedy: "matching files of the other tasks were copied; to copy all files of a task: " +
			"run-tasks fetch " + names[0] + " --to FOLDER"}
}

// checkFetch validates the arguments and options of fetch.
func checkFetch(ctx *cliv2.Context) (t target, err error) {
	arg, err := argument(ctx)
	if err != nil {
		return t, err
	}
	if t, err = parseTarget(arg); err != nil {
		return t, err
	}
	switch at := locationOf(ctx); {
	case ctx.IsSet("group-by") && ctx.String("group-by") != noGroups:
		return t, cli.Wrong("results --group-by prints means over columns",
			"--group-by of fetch is %s, or left out", noGroups)
	case ctx.IsSet("top") && ctx.Int("top") < 1:
		return t, cli.Wrong("", "--top must be at least 1")
	case ctx.IsSet("top") && t.isTask:
		return t, cli.Wrong("name a sweep", "--top chooses among the tasks of a sweep, and %s is "+
			"one task", t.text())
	case at == atSocket:
		return t, cli.Wrong("the workers have them in their folders of outputs",
			"fetch needs a cluster of cluster.yml, or a sweep of this machine")
	case at == inFolder && !ctx.IsSet("to"):
		return t, cli.Wrong("run-tasks fetch --to FOLDER copies them",
			"on this machine the outputs are in %s%c already", local.OutputFolder(),
			filepath.Separator)
	case ctx.String("to") == "":
		return t, cli.Wrong("--to . is the current folder", "--to is empty")
	case at == inFolder && within(ctx.String("to"), local.StoreFolder()):
		return t, cli.Wrong("name another folder", "%s is where run-tasks keeps its sweeps",
			cli.Visible(ctx.String("to")))
	case at == inFolder && within(ctx.String("to"), local.OutputFolder()):
		return t, cli.Wrong("name another folder", "%s is where the tasks' outputs are",
			cli.Visible(ctx.String("to")))
	}
	return t, nil
}

// failedFetch gives hosts that were not reached their exit code.
func failedFetch(err error) error {
	if err == nil {
		return nil
	}
	if _, step := errors.AsType[*infra.StepError](err); step {
		return &cli.Error{Code: cli.Failed, Err: err, Remedy: "run it again to continue"}
	}
	return site.Explain(err)
}

func (c *command) printFetched(ctx *cliv2.Context, folder string, done []infra.Fetched) error {
	slices.SortFunc(done, func(a, b infra.Fetched) int { return strings.Compare(a.Host, b.Host) })
	for _, d := range done {
		one := fetched{Host: d.Host, Files: d.Files, Bytes: d.Bytes, Had: d.Had,
			Skipped: []string{}}
		for _, s := range d.Skipped {
			one.Skipped = append(one.Skipped, s.Path)
			fmt.Fprintf(c.stderr, "note: %s: %s: left out: %s\n", cli.Visible(d.Host),
				human.Visible(s.Path), human.Visible(s.Why))
		}
		if ctx.Bool("json") {
			if err := encode(c.stdout, one); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(c.stdout, "%s: %s, %s (%d were here)\n", cli.Visible(d.Host),
			cli.Files(d.Files), size(d.Bytes), d.Had)
	}
	if !ctx.Bool("json") && len(done) > 0 {
		fmt.Fprintf(c.stdout, "in %s%c\n", folder, filepath.Separator)
	}
	return nil
}
