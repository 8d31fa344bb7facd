package main

import (
	"cmp"
	"context"
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
	"mlframework/cmd/run-tasks/project"
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

func fetchCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "fetch", ArgsUsage: sweepOrTask, Action: onSource(c, readFetchOptions),
		Usage: "copy the outputs of tasks into a folder",
		Flags: append(locationFlags(),
			&cliv2.StringFlag{Name: "to", Value: "outputs",
				DefaultText: "outputs; required on this machine",
				Usage:       "copy into `FOLDER`"},
			&cliv2.StringSliceFlag{Name: "files", DefaultText: "all",
				Usage: "copy only files that match `PATTERN`; can be given more than once"},
			&cliv2.IntFlag{Name: "top", DefaultText: "all",
				Usage: "copy only the outputs of the best `N` tasks or combinations"},
			&cliv2.StringFlag{Name: "group-by", DefaultText: "the repeats of the sweep",
				Usage: "with --top: `none` selects individual tasks, not combinations"},
			&cliv2.StringFlag{Name: "where",
				Usage: "copy only the outputs of tasks that match `EXPR`, such as " +
					"'accuracy>0.9'"},
			cli.Switch("yes", "copy more than 10 GB without asking", "y"), flagJSON()),
		Description: `Copies the outputs of each task to FOLDER/SWEEP/INDEX, from all hosts or, on
this machine, from the folder outputs. Verifies every file, and never overwrites
files that it did not create. To copy new files or continue after an
interruption, run the command again. For a running task, it copies the files
written so far. It asks before copying more than 10 GB. Sparse files stay
sparse, and their holes do not count.

PATTERN uses .gitignore syntax, relative to the task's folder: '*.pt',
/result/best.pt, checkpoints/. If a link matches, its target is copied too.

If parameters.yml has repeat, --top selects the N combinations with the best
mean, including all their repeats. With --group-by none, it selects the N best
tasks.

EXAMPLES:
   # all outputs of the newest sweep
   run-tasks fetch
   # the checkpoints of the best three
   run-tasks fetch run_training --top 3 --files '*.pt' --to best/`}
}

// fetchOptions are the options of `run-tasks fetch`.
type fetchOptions struct {
	target
	to      string   // folder
	files   []string // patterns; none: all files
	top     int      // 0: all tasks
	ungroup bool     // top is of single tasks
	where   string
	yes     bool
	json    bool
}

// run copies outputs of tasks into a folder.
func (o fetchOptions) run(ctx context.Context, src source, t *terminal) error {
	ctx, stop := cli.Interrupts(ctx, func() { os.Exit(cli.Interrupted) })
	defer stop()
	s, err := fetchedSweep(ctx, src, o.sweep, o.top)
	if err != nil {
		return err
	}
	w, err := o.plan(ctx, src, s)
	if err != nil {
		return err
	}
	if text := w.chosen(s, o.top, o.where); text != "" {
		t.note(text)
	}
	if err := makeResults(o.to); err != nil {
		return err
	}
	confirm := confirmsFetch(ctx, t, o.yes)
	var done []infra.Fetched
	if m, ok := src.(*remote); ok {
		done, err = m.fetch(ctx, w, o.to, confirm)
	} else {
		done, err = fetchHere(ctx, w, o.to, confirm)
	}
	if errors.Is(err, cli.ErrInterrupted) {
		fmt.Fprintln(t.stderr, "interrupted; run it again to continue")
		return cli.Code(cli.Interrupted)
	}
	missing := w.missingFolders(done)
	some := slices.ContainsFunc(done, func(d infra.Fetched) bool { return d.Files+d.Had > 0 })
	if err == nil && missing == nil && len(w.Files) > 0 && !some {
		return &cli.Error{Code: cli.Failed, Err: fmt.Errorf("no output of the selected tasks of "+
			"%s matches %s", s.ID, human.List(w.Files)),
			Remedy: "patterns are as in a .gitignore file, below the task's folder; without " +
				"--files everything is copied"}
	}
	if (err != nil || missing != nil) && !o.json {
		// a host from which nothing was copied gets no line
		done = slices.DeleteFunc(done, func(d infra.Fetched) bool {
			return d.Files+d.Had == 0 && len(d.Skipped) == 0
		})
	}
	var unmatched error
	if err == nil && o.top > 0 && len(w.Files) > 0 {
		unmatched = w.unmatchedTasks(done)
	}
	return errors.Join(o.print(t, filepath.Join(o.to, s.ID), done), failedFetch(err), missing,
		unmatched)
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
				human.Pick(n, "folder", "folders"), human.ListFirst(ids), human.Pick(n, "exists", "exist"),
				d.Host, first, human.Pick(n, "", ", ...")))
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
		human.ListFirst(names), human.List(w.Files)),
		Remedy: "matching files of the other tasks were copied; to copy all files of a task: " +
			"run-tasks fetch " + names[0] + " --to FOLDER"}
}

// readFetchOptions refuses options that do not go together, or not with where the sweeps are.
func readFetchOptions(ctx *cliv2.Context) (o fetchOptions, err error) {
	if o.target, err = readTarget(ctx); err != nil {
		return o, err
	}
	o.to, o.files, o.top = ctx.String("to"), ctx.StringSlice("files"), ctx.Int("top")
	o.where, o.yes, o.json = ctx.String("where"), ctx.Bool("yes"), ctx.Bool("json")
	if err := wholeCondition(o.where); err != nil {
		return o, err
	}
	o.ungroup = ctx.String("group-by") == noGroups
	switch at := locationOf(ctx); {
	case ctx.IsSet("group-by") && !o.ungroup:
		return o, cli.Wrong("results --group-by prints means over columns",
			"--group-by of fetch is %s, or left out", noGroups)
	case ctx.IsSet("top") && o.top < 1:
		return o, cli.Wrong("", "--top must be at least 1")
	case ctx.IsSet("top") && o.isTask:
		return o, cli.Wrong("name a sweep", "--top chooses among the tasks of a sweep, and %s is "+
			"one task", o.text())
	case at == project.AtSocket:
		return o, cli.Wrong("the workers have them in their folders of outputs",
			"fetch needs a cluster of cluster.yml, or a sweep of this machine")
	case at == project.Here && !ctx.IsSet("to"):
		return o, cli.Wrong("run-tasks fetch --to FOLDER copies them",
			"on this machine the outputs are in %s%c already", local.OutputFolder(),
			filepath.Separator)
	case o.to == "":
		return o, cli.Wrong("--to . is the current folder", "--to is empty")
	case at == project.Here && within(o.to, local.StoreFolder()):
		return o, cli.Wrong("name another folder", "%s is where run-tasks keeps its sweeps",
			cli.Visible(o.to))
	case at == project.Here && within(o.to, local.OutputFolder()):
		return o, cli.Wrong("name another folder", "%s is where the tasks' outputs are",
			cli.Visible(o.to))
	}
	return o, nil
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

// print says what was copied from each host.
func (o fetchOptions) print(t *terminal, folder string, done []infra.Fetched) error {
	slices.SortFunc(done, func(a, b infra.Fetched) int { return strings.Compare(a.Host, b.Host) })
	for _, d := range done {
		one := fetched{Host: d.Host, Files: d.Files, Bytes: d.Bytes, Had: d.Had,
			Skipped: []string{}}
		for _, s := range d.Skipped {
			one.Skipped = append(one.Skipped, s.Path)
			fmt.Fprintf(t.stderr, "note: %s: %s: left out: %s\n", cli.Visible(d.Host),
				human.Visible(s.Path), human.Visible(s.Why))
		}
		if o.json {
			if err := encode(t.stdout, one); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(t.stdout, "%s: %s, %s (%d already here)\n", cli.Visible(d.Host),
			cli.Files(d.Files), human.Size(d.Bytes), d.Had)
	}
	if !o.json && len(done) > 0 {
		fmt.Fprintf(t.stdout, "saved in %s%c\n", folder, filepath.Separator)
	}
	return nil
}
