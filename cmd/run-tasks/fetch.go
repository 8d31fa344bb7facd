package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/infra"
	"mlframework/infra/filesync"
	"mlframework/projects"
	"mlframework/sweep/api"
	"mlframework/sweep/human"
	"mlframework/sweep/table"
)

func (c *command) fetchCommand() *cliv2.Command {
	return &cliv2.Command{Name: "fetch", Usage: "copies the outputs of a sweep's tasks into a folder", ArgsUsage: "[SWEEP | SWEEP/INDEX]",
		Description: "They come to FOLDER/SWEEP/INDEX: from their hosts, or on this machine from the\nfolder outputs. What arrives is verified; called again it copies what is new or was\n" +
			"cut off. Files that it did not make are never written over. Of a task that runs it\ncopies what the task has made so far.\n\n" +
			"PATTERN is as in a .gitignore file, below the task's folder: '*.pt', /result/best.pt,\ncheckpoints/. What a link among them leads to comes, too. --top without SWEEP is\n" +
			"of the newest sweep with an objective; where several definitions have one, name one:\nrun-tasks fetch run_training --top 3. With repeat in parameters.yml it is the N\ncombinations of the best mean, each with all its repeats.",
		Flags: append(locationFlags(),
			&cliv2.StringFlag{Name: "to", Value: outputFolder, DefaultText: "outputs; on this machine there is none", Usage: "into `FOLDER`"},
			&cliv2.StringSliceFlag{Name: "files", DefaultText: "all", Usage: "only files that `PATTERN` names; may be given again"},
			&cliv2.IntFlag{Name: "top", DefaultText: "all", Usage: "only of the best `N` tasks, or combinations"},
			&cliv2.StringFlag{Name: "where", Usage: "only of tasks for which `EXPR` holds: 'accuracy>0.9'"}, flagJSON()),
		Action: c.fetch}
}

// fetched is what fetch says of one host, as JSON.
type fetched struct {
	Host    string   `json:"host"`
	Files   int      `json:"files"`
	Bytes   int64    `json:"bytes"`
	Had     int      `json:"had"`
	Skipped []string `json:"skipped"`
}

// fetchPlan is which outputs are fetched.
type fetchPlan struct {
	infra.Outputs
	hosts map[string][]int64 // tasks
	// combinations is how many of a sweep that repeats them --top chose; 0: it chose tasks.
	combinations int
}

// tasks is how many tasks' outputs are fetched.
func (w fetchPlan) tasks() (n int) {
	for _, indexes := range w.hosts {
		n += len(indexes)
	}
	return n
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
	var done []infra.Fetched
	if m, ok := src.(*remote); ok {
		done, err = m.fetch(work, w, ctx.String("to"))
	} else {
		done, err = fetchHere(work, w, ctx.String("to"))
	}
	if errors.Is(err, cli.ErrInterrupted) {
		fmt.Fprintln(c.stderr, "interrupted; called again it goes on")
		return cli.Code(cli.Interrupted)
	}
	if err == nil && len(w.Files) > 0 && !slices.ContainsFunc(done, func(d infra.Fetched) bool { return d.Files+d.Had > 0 }) {
		return &cli.Error{Code: cli.Failed, Err: fmt.Errorf("no output of these tasks of %s is named by %s", s.ID, enumerated(w.Files)),
			Remedy: "patterns are as in a .gitignore file, below the task's folder; without --files everything is copied"}
	}
	if err != nil && !ctx.Bool("json") { // of a host from which nothing came nothing is said
		done = slices.DeleteFunc(done, func(d infra.Fetched) bool { return d.Files+d.Had == 0 && len(d.Skipped) == 0 })
	}
	return errors.Join(c.printFetched(ctx, filepath.Join(ctx.String("to"), s.ID), done), failedFetch(err))
}

// makeResults makes the folder that outputs are copied into, where there is none. It may lie in the project, whose tasks are not to have
// copies of it.
func makeResults(to string) error {
	if exists(to) {
		return nil
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	hideFromGit(to)
	return os.WriteFile(filepath.Join(to, projects.ResultsMark), nil, 0o600)
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
	case ctx.IsSet("top") && ctx.Int("top") < 1:
		return t, cli.Wrong("", "--top must be at least 1")
	case ctx.IsSet("top") && t.isTask:
		return t, cli.Wrong("name a sweep", "--top chooses among the tasks of a sweep, and %s is one task", t.text())
	case at == atSocket:
		return t, cli.Wrong("the workers have them in their folders of outputs", "fetch is for a cluster of config.yml, and for what this machine runs")
	case at == inFolder && !ctx.IsSet("to"):
		return t, cli.Wrong("run-tasks fetch --to FOLDER copies them", "on this machine the outputs are in %s%c already", outputFolder, filepath.Separator)
	case ctx.String("to") == "":
		return t, cli.Wrong("--to . is the current folder", "--to is empty")
	case at == inFolder && within(ctx.String("to"), storeFolder):
		return t, cli.Wrong("name another folder", "%s is where run-tasks keeps its sweeps", cli.Visible(ctx.String("to")))
	case at == inFolder && within(ctx.String("to"), outputFolder):
		return t, cli.Wrong("name another folder", "%s is where the tasks' outputs are", cli.Visible(ctx.String("to")))
	}
	return t, nil
}

// within reports whether a path leads into a folder, or to it.
func within(path, folder string) bool {
	below, err := filepath.Rel(resolved(folder), resolved(path))
	return err == nil && filepath.IsLocal(below)
}

// resolved is the absolute path without symbolic links, as far as there is something at it.
func resolved(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return "" // the current folder is gone, and nothing is copied anyway
	}
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// fetchedSweep finds the sweep whose outputs are meant. Of the best tasks it is one that has an objective.
func fetchedSweep(ctx context.Context, q queries, name string, top int) (api.Sweep, error) {
	if name != "" || top == 0 {
		s, err := sweepOf(ctx, q, name, false)
		if err == nil && top > 0 && s.Record.Objective.IsZero() {
			err = cli.Wrong("--where chooses tasks otherwise", "%s has no objective: which of its tasks are the best is not known", s.ID)
		}
		return s, err
	}
	all, err := q.Sweeps(ctx, "", 0)
	if err != nil {
		return api.Sweep{}, err
	}
	seen := map[string]bool{}
	var ranked []api.Sweep
	for _, one := range slices.Backward(all) {
		if seen[one.Definition] {
			continue
		}
		seen[one.Definition] = true
		s, err := q.Sweep(ctx, one.ID, false)
		if err != nil {
			return s, err
		}
		if !s.Record.Objective.IsZero() {
			ranked = append(ranked, s)
		}
	}
	switch len(ranked) {
	case 0:
		return api.Sweep{}, cli.Wrong("--where chooses tasks otherwise", "no newest sweep of a definition has an objective: which tasks are the best is not known")
	case 1:
		return ranked[0], nil
	}
	var names []string
	for _, s := range ranked {
		names = append(names, s.ID)
	}
	return api.Sweep{}, cli.Wrong("run-tasks fetch "+ranked[0].Definition+" --top ..., for example", "the best tasks of which sweep? The newest are %s", enumerated(names))
}

// outputsOf chooses the tasks whose outputs are fetched.
func outputsOf(work context.Context, ctx *cliv2.Context, src source, s api.Sweep, t target) (w fetchPlan, err error) {
	w = fetchPlan{Outputs: infra.Outputs{Sweep: s.ID}, hosts: map[string][]int64{}}
	revisions := map[string]bool{}
	q := api.Query{Begun: true, Where: ctx.String("where"), Top: ctx.Int("top")}
	isMeant := func(r *table.Row) bool { return !t.isTask || r.Index == t.index }
	switch ranked := q.Top > 0; {
	case ranked && len(s.Record.Repeats()) > 0:
		best, err := bestCombinations(work, ctx, src, s)
		if err != nil {
			return w, err
		}
		isMeant, w.combinations, q.Top = best.has, len(best.of), 0
	case ranked:
		isMeant = func(r *table.Row) bool { return table.IsRanked(s.Record.Objective, r) }
		q.Best = true
	}
	err = src.Rows(work, s.ID, q, func(r *table.Row) error {
		if r.Host != "" && isMeant(r) {
			w.hosts[r.Host] = append(w.hosts[r.Host], r.Index)
			revisions[r.Revision] = true
		}
		return nil
	})
	w.Revisions = slices.Sorted(maps.Keys(revisions))
	if err == nil && len(w.hosts) == 0 {
		what := "no task of %s that is meant has begun"
		if ctx.Int("top") > 0 {
			what = "no task of %s that is meant has succeeded with its objective"
		}
		err = cli.Wrong("run-tasks show "+s.ID+" shows how it stands", what, s.ID)
	}
	return w, err
}

// fetch copies outputs from the hosts of a cluster.
func (m *remote) fetch(ctx context.Context, w fetchPlan, to string) ([]infra.Fetched, error) {
	var hosts []infra.FetchRequest
	for host, indexes := range w.hosts {
		hosts = append(hosts, infra.FetchRequest{Host: host, Tasks: indexes})
	}
	defer m.cluster.site.Printer.Clear()
	return m.cluster.Fetch(ctx, w.Outputs, to, hosts, func(host string, p filesync.Progress) {
		m.cluster.site.Printer.Says(host, fmt.Sprintf("%d of %d files, %.1f of %.1f MB", p.Files, p.OfFiles, float64(p.Bytes)/1e6, float64(p.OfBytes)/1e6))
	})
}

// fetchHere copies outputs of tasks that ran on this machine, as those of a host are.
func fetchHere(ctx context.Context, w fetchPlan, to string) (done []infra.Fetched, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	id := filesync.Identity{Owner: strconv.Itoa(os.Getuid()), Cluster: dir, Program: cli.Version()}
	far, near := net.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- filesync.Serve(ctx, far, filesync.ServeOptions{Own: &filesync.Folders{Outputs: outputFolder, Revisions: revisionsFolder}})
		_ = far.Close()
	}()
	client := filesync.NewClient(near, id)
	for host, indexes := range w.hosts {
		var f filesync.Fetched
		f, err = client.Fetch(ctx, id, filesync.FetchOptions{Sweep: w.Sweep, Tasks: indexes, Files: w.Files, Without: w.Revisions, Dir: to})
		done = append(done, infra.Fetched{Host: host, Fetched: f})
		if err != nil {
			break
		}
	}
	_ = client.Close()
	<-served // that the client has gone is its end
	if conflict, ok := errors.AsType[*filesync.ConflictError](err); ok {
		return done, &cli.Error{Code: cli.Failed, Err: conflict}
	}
	return done, err
}

// failedFetch gives hosts that were not reached their exit code.
func failedFetch(err error) error {
	if err == nil {
		return nil
	}
	if _, step := errors.AsType[*infra.StepError](err); step {
		return &cli.Error{Code: cli.Failed, Err: err, Remedy: "called again it goes on where it was"}
	}
	return site.Explain(err)
}

func (c *command) printFetched(ctx *cliv2.Context, folder string, done []infra.Fetched) error {
	slices.SortFunc(done, func(a, b infra.Fetched) int { return strings.Compare(a.Host, b.Host) })
	for _, d := range done {
		one := fetched{Host: d.Host, Files: d.Files, Bytes: d.Bytes, Had: d.Had, Skipped: []string{}}
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
		fmt.Fprintf(c.stdout, "%s: %s, %.1f MB (%d were here)\n", cli.Visible(d.Host), cli.Files(d.Files), float64(d.Bytes)/1e6, d.Had)
	}
	if !ctx.Bool("json") && len(done) > 0 {
		fmt.Fprintf(c.stdout, "in %s%c\n", folder, filepath.Separator)
	}
	return nil
}
