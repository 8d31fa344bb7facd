package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mlframework/cmd/run-tasks/local"
	"mlframework/cmd/run-tasks/project"
	"mlframework/projects"
	"mlframework/sweep/api"
	"mlframework/sweep/argv"
	"mlframework/sweep/core"
	"mlframework/sweep/definition"
	"mlframework/sweep/human"
	"mlframework/sweep/space"
	"mlframework/sweep/store"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// dryTask is one task of a dry run, as JSON.
type dryTask struct {
	ID         string           `json:"id"` // NAME/INDEX
	Index      int64            `json:"index"`
	Argv       []string         `json:"argv"`
	Parameters table.Parameters `json:"parameters"`

	Environment table.Parameters `json:"environment"` // of the definition and the parameters
	File        *dryFile         `json:"file"`        // that takes the parameters; null: none does
}

// dryWhole is the last line of a dry run's JSON.
type dryWhole struct {
	Name   string      `json:"name"` // of the definition, or of the sweep that would be extended
	Tasks  int64       `json:"tasks"`
	Spaces []spaceView `json:"spaces"` // that the tasks are from

	Overrides []string `json:"overrides"` // of the command line to the parameters file, as words

	GPUs *task.GPUs `json:"gpus"` // of each task; null: none
}

// dryFile is a file in a task's folder.
type dryFile struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func fileOf(g argv.Given) *dryFile {
	if g.File == nil {
		return nil
	}
	return &dryFile{g.To, string(g.File)}
}

// dryRun is what would be run.
type dryRun struct {
	name   string // of the definition, or of the sweep that would be extended
	record core.Record
	spaces []*space.Space // that the tasks are from
	first  int64          // of them, counted within the sweep
	total  int64
	more   bool          // beside those that the sweep has
	where  []core.Worker // would take them
	config []byte        // the file that takes the parameters, as the project has it
	folder []string      // says what is in their folders
	all    bool
}

// onlyMissing leaves out what has succeeded already. It writes nothing.
func onlyMissing(ctx context.Context, src source, d *dryRun, p *project.Project) error {
	m, err := projects.Scan(ctx, p.Dir, projects.Options{})
	if err != nil {
		return project.FilesError(err)
	}
	r := d.record
	r.Recipe.Revision = m.Revision()
	revisions, err := revisionsOf(ctx, src)
	if err != nil {
		return err
	}
	gap := project.NewGap(m, project.CodeOf(p.Task, p.Space).Key(m), p, revisions)
	found, _, notes, err := gap.Narrow(ctx, src, &r)
	if err != nil {
		return err
	}
	p.Notes = append(p.Notes, notes...)
	if d.record.Ranges, d.total = r.Ranges, api.Total(r); !found {
		d.total = 0
	}
	return nil
}

// hasSweeps reports whether this folder has a store of sweeps, or something in its place.
func hasSweeps() bool {
	_, err := os.Stat(filepath.Join(local.StoreFolder(), store.File))
	return !errors.Is(err, fs.ErrNotExist)
}

// revisionsOf is the folder of this machine in which the files of revisions are; "": there is none.
func revisionsOf(ctx context.Context, src source) (string, error) {
	m, isRemote := src.(*remote)
	switch {
	case !isRemote:
		return local.RevisionsFolder(), nil
	case m.cluster != nil:
		return "", nil
	}
	b, err := m.Broker(ctx)
	if err != nil || b.Revisions == nil {
		return "", err
	}
	return *b.Revisions, nil
}

// places are the workers that tasks of a project would run on. It refuses what a submission would.
func places(ctx context.Context, t *terminal, src source, o runOptions, dir string,
	file *definition.File, need hostNeed) (workers []core.Worker, err error) {
	m, is := src.(*remote)
	if !is {
		w, err := thisMachine(ctx, o, need)
		if err != nil && !o.local { // it may be meant for a cluster that is not there yet
			problem, _, _ := strings.Cut(err.Error(), "\n")
			t.note(problem + "; on a cluster of infrainit it may have")
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		noteOwn(ctx, &w)
		return []core.Worker{w}, nil
	}
	workers, err = m.Workers(ctx)
	if err == nil {
		err = m.compare(ctx, dir, file, workers)
	}
	if err == nil {
		err = need.possible(workers)
	}
	return workers, err
}

func (d dryRun) write(w io.Writer, asJSON bool) error {
	if asJSON {
		return d.writeJSON(w)
	}
	return d.writeText(w)
}

func (d dryRun) writeJSON(w io.Writer) error {
	out := bufio.NewWriter(w)
	points := d.record.Points()
	for n := range d.shown() {
		i := d.record.Ranges.At(d.first + n)
		g, err := d.inputs(points, i)
		if err != nil {
			return err
		}
		if err := encode(out, dryTask{d.id(i), i, g.Argv, points.Parameters(i),
			environment(d.record.Recipe, g), fileOf(g)}); err != nil {
			return err
		}
	}
	whole := dryWhole{Name: d.name, Tasks: d.total, Spaces: []spaceView{},
		Overrides: overrideWords(d.record), GPUs: gpusOrNull(d.record)}
	for _, s := range d.spaces {
		whole.Spaces = append(whole.Spaces, viewOf(s))
	}
	if err := encode(out, whole); err != nil {
		return err
	}
	return out.Flush()
}

func (d dryRun) id(index int64) string { return task.ID{Sweep: d.name, Index: index}.String() }

// drawnShown is how many tasks between the first and the last a dry run shows.
const drawnShown = 3

// shown yields the tasks to show, counted from the first: all, or the first, a few drawn at random
// and the last. The same tasks are drawn each time.
func (d dryRun) shown() iter.Seq[int64] {
	if d.all || d.total <= drawnShown+2 {
		return func(yield func(int64) bool) {
			for n := int64(0); n < d.total && yield(n); n++ {
			}
		}
	}
	some, random := []int64{0, d.total - 1}, rand.New(rand.NewPCG(0, 0))
	for len(some) < drawnShown+2 {
		if n := random.Int64N(d.total); !slices.Contains(some, n) {
			some = append(some, n)
		}
	}
	slices.Sort(some)
	return slices.Values(some)
}

func (d dryRun) writeText(w io.Writer) error {
	out := bufio.NewWriter(w)
	title := d.name + ": " + project.TasksOf(d.record.Space, d.total)
	if d.more {
		title += " more"
	}
	fmt.Fprintln(out, title)
	for _, s := range d.spaces {
		for _, line := range spaceLines(s) {
			fmt.Fprintf(out, "  %s\n", human.Visible(line))
		}
	}
	points := d.record.Points()
	count := int64(0)
	for n := range d.shown() {
		i := d.record.Ranges.At(d.first + n)
		g, err := d.inputs(points, i)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s\t%s\n", d.id(i), human.CommandLine(g.Argv)); err != nil {
			return err
		}
		if g.File != nil {
			fmt.Fprintf(out, "  %s: %s\n", g.To, assignments(pairs(g.Put)))
		}
		if env := shownEnvironment(d.record.Recipe, environment(d.record.Recipe, g)); len(env) > 0 {
			fmt.Fprintf(out, "  %s\n", variables(env))
		}
		count++
	}
	if count < d.total {
		fmt.Fprintf(out, "... %d more (--all shows them)\n", d.total-count)
	}
	if line := d.parametersLine(); line != "" {
		fmt.Fprintln(out, human.Visible(line))
	}
	for _, line := range d.folder {
		fmt.Fprintln(out, human.Visible(line))
	}
	need := d.record.Recipe.Needs
	if need.Reserved() {
		fmt.Fprintf(out, "each task has %s\n", core.NeedsText(need))
	}
	for _, p := range d.where {
		for _, line := range placeLines(p, need) {
			fmt.Fprintln(out, human.Visible(line))
		}
	}
	if len(d.where) == 0 {
		fmt.Fprintln(out, "on no worker yet: the master has none")
	}
	return out.Flush()
}

// inputs is what the program of a task is given, as far as it is known before it runs.
func (d dryRun) inputs(points *core.Points, index int64) (argv.Given, error) {
	at := task.PlaceholderValues{Index: fmt.Sprint(index)}
	if d.more {
		at.Task = d.id(index)
	}
	return argv.Of(d.record.Recipe, at, task.Attempt{Index: index, Args: points.Flags(nil, index),
		Parameters: points.Given(index)}, d.config)
}

// parametersLine says where else tasks find their parameters; "": they have none.
func (d dryRun) parametersLine() string {
	names := project.NamesOf(d.spaces...)
	if len(names) == 0 {
		return ""
	}
	for i, name := range names {
		names[i] = argv.Variable(name)
	}
	return "parameters are also in " + task.ParametersFile + " and " + strings.Join(names, " ")
}
