package worker

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mlframework/sweep/argv"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
	"mlframework/sweep/worker/folder"
)

// mostJobs bounds the jobs that are kept ready: a worker lives longer than the sweeps it works for.
const mostJobs = 64

// job is what attempts of one sweep and revision share, made ready once.
type job struct {
	sweep  string
	recipe task.Recipe
	rules  *metric.Rules

	metricFiles bool // some of its metrics are in files

	project *folder.Project
	folder  string   // OUTPUTS/SWEEP
	environ []string // what is the same for every attempt
	config  []byte   // the recipe's File as the project has it
	err     error    // why no attempt of it can run on this host

	need *task.Need // secrets that the master has; nil: none, or they are here
	lot  *lot       // secrets that are here; nil: none, or the master has them

	ownThreads bool // environ has ompThreads
}

// jobs keeps the jobs in use. Get is for one goroutine.
type jobs struct {
	o         Options
	folders   *folder.Store
	following following
	ready     map[[3]string]*job // by sweep, revision, and edition of its secrets or environment
}

func (js *jobs) init(o Options, folders *folder.Store) {
	js.o, js.folders, js.ready = o, folders, map[[3]string]*job{}
}

// get returns the job of a batch. A job that could not be made ready is tried anew with the next batch.
func (js *jobs) get(b task.Batch) *job {
	k := [3]string{b.Sweep, b.Recipe.Revision, b.Edition}
	if j := js.ready[k]; j != nil {
		return j
	}
	j := &job{sweep: b.Sweep, recipe: b.Recipe, folder: filepath.Join(js.o.Outputs, b.Sweep)}
	o := js.o
	if b.Environ != nil {
		o.Environ = b.Environ
	}
	switch {
	case len(b.Recipe.Secrets) == 0:
	case js.o.OwnSecrets:
		j.lot = o.own(b.Recipe.Secrets)
	default:
		j.need = &task.Need{Sweep: b.Sweep, Edition: b.Edition}
	}
	if j.err = check(b); j.err == nil {
		j.err = j.prepare(o, js.folders)
	}
	if j.err != nil {
		js.o.Log.Warn("sweep cannot run here", "sweep", b.Sweep, "error", j.err)
		return j
	}
	if len(js.ready) >= mostJobs { // making one ready again costs little
		clear(js.ready)
	}
	js.ready[k] = j
	return j
}

// check refuses names that would lead out of their folders.
func check(b task.Batch) error {
	return errors.Join(checkName(b.Sweep), checkName(b.Recipe.Revision))
}

// checkName refuses what is not the name of an entry of a folder.
func checkName(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return fmt.Errorf("%q is no name of a folder", name)
	}
	return nil
}

func (j *job) prepare(o Options, folders *folder.Store) (err error) {
	if j.rules, err = metric.Compile(j.recipe.Metrics); err != nil {
		return err
	}
	j.metricFiles = slices.ContainsFunc(j.recipe.Metrics,
		func(r metric.Rule) bool { return r.File != "" })
	if err := os.MkdirAll(j.folder, 0o700); err != nil {
		return err
	}
	if j.project, err = folders.Project(j.recipe.Revision, folder.RulesOf(j.recipe)); err != nil {
		return err
	}
	if err := j.readConfig(o); err != nil {
		return err
	}
	j.environ = environ(o, j.sweep, j.recipe)
	_, set := j.recipe.Env[ompThreads]
	j.ownThreads = set || slices.ContainsFunc(j.environ, func(v string) bool { return strings.HasPrefix(v, ompThreads+"=") })
	return nil
}

// readConfig reads the file that takes the parameters from the project's snapshot.
func (j *job) readConfig(o Options) error {
	if j.recipe.File == nil {
		return nil
	}
	dir, err := o.Revision(j.recipe.Revision)
	if err != nil {
		return err
	}
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(j.recipe.File.From)))
	if err != nil {
		return &argv.NoFile{File: j.recipe.File.From, Err: err}
	}
	defer f.Close()
	j.config, err = io.ReadAll(io.LimitReader(f, argv.MaxFile+1))
	return err
}

// infra is the outcome of an attempt that its host could not begin.
func infra(errs ...error) task.Outcome {
	return task.Outcome{Class: task.Loss, Reason: "infra: " + errors.Join(errs...).Error()}
}
