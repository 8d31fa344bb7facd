package worker

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"mlframework/nvdocker"
	"mlframework/sweep/argv"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
	"mlframework/sweep/worker/folder"
)

// maxJobs limits the cached jobs: a worker outlives the sweeps that it works for.
const maxJobs = 64

// job is what attempts of one sweep and revision share, prepared once.
type job struct {
	sweep  string
	recipe task.Recipe
	rules  *metric.Rules

	// some of its metrics are in files
	metricFiles bool

	project *folder.Project
	folder  string // OUTPUTS/SWEEP
	// the part that all attempts share
	environ []string
	// the recipe's File as it is in the project
	config []byte
	// why this host cannot run its attempts
	err error

	// secrets that the master has; nil: none, or they are in secrets
	need *task.Need
	// secrets that are here; nil: none, or the master has them
	secrets *secretSet

	// its environment sets ompThreads
	ownThreads bool
}

// jobs caches jobs. get is for one goroutine.
type jobs struct {
	o        Options
	folders  *folder.Store
	followed followedSweeps
	ready    map[jobKey]*job
}

// jobKey identifies a job: of each, the one with the latest recipe is cached. The edition says
// which values of its secrets are meant, or which environment it inherits.
type jobKey struct{ sweep, revision, edition string }

func (js *jobs) init(o Options, folders *folder.Store) {
	js.o, js.folders, js.ready = o, folders, map[jobKey]*job{}
}

// get returns the job of a batch. A job is prepared again if its preparation failed, or if the
// recipe has changed: the settings of an open sweep can change, such as its metrics.
func (js *jobs) get(b task.Batch) *job {
	k := jobKey{b.Sweep, b.Recipe.Revision, b.Edition}
	if j := js.ready[k]; j != nil && reflect.DeepEqual(j.recipe, b.Recipe) {
		return j
	}
	j := &job{sweep: b.Sweep, recipe: b.Recipe, folder: filepath.Join(js.o.Outputs, b.Sweep)}
	o := js.o
	if b.BaseEnv != nil {
		o.Inherited = b.BaseEnv
	}
	switch {
	case len(b.Recipe.Secrets) == 0:
	case js.o.OwnSecrets:
		j.secrets = o.ownSecrets(b.Recipe.Secrets)
	default:
		j.need = &task.Need{Sweep: b.Sweep, Edition: b.Edition}
	}
	if j.err = checkBatch(b); j.err == nil {
		j.err = j.prepare(o, js.folders)
	}
	if j.err != nil {
		js.o.Log.Warn("sweep cannot run here", "sweep", b.Sweep, "error", j.err)
		return j
	}
	if len(js.ready) >= maxJobs { // making one ready again costs little
		clear(js.ready)
	}
	js.ready[k] = j
	return j
}

// checkBatch rejects names that would lead out of their folders.
func checkBatch(b task.Batch) error {
	return errors.Join(checkName(b.Sweep), checkName(b.Recipe.Revision))
}

// checkName rejects what cannot be the name of a folder entry.
func checkName(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return fmt.Errorf("%q is not a valid folder name", name)
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
	j.project, err = folders.Project(j.recipe.Revision, folder.RulesOf(j.recipe))
	if err != nil {
		return err
	}
	if err := j.readConfig(o); err != nil {
		return err
	}
	j.environ = sweepEnviron(o, j.sweep, j.recipe)
	_, set := j.recipe.Env[ompThreads]
	j.ownThreads = set || slices.ContainsFunc(j.environ,
		func(v string) bool { return strings.HasPrefix(v, ompThreads+"=") })
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

// item is a claimed attempt.
type item struct {
	job     *job
	attempt task.Attempt
	slots   int // of the worker that it takes
	atATime int // attempts of its kind that run beside each other; 0: as many as slots
	// the master keeps for it what it needs: it starts before others
	reserved bool
	// set when the attempt may start
	secrets *secretSet
	gpus    nvdocker.Assignment
}

// newItem returns an attempt of a batch. One that says nothing of slots takes one.
func newItem(j *job, b *task.Batch, a task.Attempt) item {
	i := item{job: j, attempt: a, slots: b.Slots, atATime: b.AtATime,
		reserved: b.Reserved || len(a.Devices) > 0}
	if !i.reserved {
		i.slots = max(1, i.slots)
	}
	return i
}

// key identifies an attempt.
type key struct {
	sweep  string
	index  int64
	number int
}

func (i item) key() key { return key{i.job.sweep, i.attempt.Index, i.attempt.Number} }

// event returns an event about the item.
func (i item) event(kind task.EventKind, worker string) task.Event {
	return task.Event{Version: task.Version, Kind: kind, Worker: worker, Time: time.Now(),
		Sweep: i.job.sweep, Index: i.attempt.Index, Attempt: i.attempt.Number}
}
