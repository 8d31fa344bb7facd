package worker

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"mlframework/sweep/result"
	"mlframework/sweep/task"
)

// outputNames are folders that programs make for what they produce. They are never linked from the project, so that
// every attempt makes its own.
var outputNames = []string{"result", "results", "run", "runs", "log", "logs", "checkpoint", "checkpoints", "output",
	"outputs", "stdout.log", "stderr.log"}

// job is what attempts of one sweep and revision share, made ready once.
type job struct {
	sweep   string
	recipe  task.Recipe
	rules   *result.Rules
	links   []link
	folder  string   // OUTPUTS/SWEEP
	environ []string // what is the same for every attempt
	secrets []string // values that must not appear in output
	follow  *atomic.Bool
	err     error // why no attempt of it can run on this host
}

// link is a symbolic link that every working directory gets.
type link struct{ name, target string }

// jobs keeps the jobs in use.
type jobs struct {
	o Options

	mu        sync.Mutex
	ready     map[[2]string]*job // by sweep and revision
	following map[string]*atomic.Bool
}

func (js *jobs) init(o Options) {
	js.o, js.ready, js.following = o, map[[2]string]*job{}, map[string]*atomic.Bool{}
}

// get returns the job of a batch. A job that could not be made ready is tried anew with the next batch.
func (js *jobs) get(b task.Batch) *job {
	js.mu.Lock()
	defer js.mu.Unlock()
	k := [2]string{b.Sweep, b.Recipe.Revision}
	if j := js.ready[k]; j != nil {
		return j
	}
	j := &job{sweep: b.Sweep, recipe: b.Recipe, folder: filepath.Join(js.o.Outputs, b.Sweep), follow: js.followed(b.Sweep)}
	if j.err = j.prepare(js.o); j.err == nil {
		js.ready[k] = j
	}
	return j
}

// follow turns the live output of a sweep on or off.
func (js *jobs) follow(sweep string, on bool) {
	js.mu.Lock()
	defer js.mu.Unlock()
	js.followed(sweep).Store(on)
}

func (js *jobs) followed(sweep string) *atomic.Bool {
	f := js.following[sweep]
	if f == nil {
		f = new(atomic.Bool)
		js.following[sweep] = f
	}
	return f
}

func (j *job) prepare(o Options) (err error) {
	if j.rules, err = result.Compile(j.recipe.Metrics); err != nil {
		return err
	}
	if err := os.MkdirAll(j.folder, 0o777); err != nil {
		return err
	}
	revision, err := o.Revision(j.recipe.Revision)
	if err != nil {
		return err
	}
	if j.links, err = links(revision, j.folder, j.recipe.Outputs); err != nil {
		return fmt.Errorf("read revision %s: %w", j.recipe.Revision, err)
	}
	j.environ, j.secrets = j.shared(o)
	return nil
}

// links lists what a working directory in folder shows of a revision. They are relative, so that a project can be moved
// with its outputs.
func links(revision, folder string, outputs []string) (all []link, err error) {
	entries, err := os.ReadDir(revision)
	if err != nil {
		return nil, err
	}
	base, err := filepath.Rel(filepath.Join(folder, "0"), revision)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if name := e.Name(); !slices.Contains(outputNames, name) && !slices.Contains(outputs, name) {
			all = append(all, link{name, filepath.Join(base, name)})
		}
	}
	return all, nil
}

// shared is the part of the environment that all attempts of a job have in common, and the values of its secrets.
func (j *job) shared(o Options) (environ, secrets []string) {
	own := map[string]string{"SWEEP_ID": j.sweep, "WORKER": o.Name, "HOST": o.Host}
	if o.Caches != "" {
		own["PYTHONPYCACHEPREFIX"] = filepath.Join(o.Caches, "pycache")
	}
	for name, value := range j.recipe.Env {
		own[name] = value
	}
	threads := true
	for _, v := range o.Environ {
		name, value, _ := strings.Cut(v, "=")
		if slices.Contains(j.recipe.Secrets, name) && len(value) >= shortestSecret {
			secrets = append(secrets, value)
		}
		if _, replaced := own[name]; !replaced && !slices.Contains(perAttempt, name) {
			environ = append(environ, v)
		}
		threads = threads && name != "OMP_NUM_THREADS"
	}
	if _, named := own["OMP_NUM_THREADS"]; threads && !named {
		own["OMP_NUM_THREADS"] = strconv.Itoa(max(1, runtime.NumCPU()/o.Slots))
	}
	for name, value := range own {
		environ = append(environ, name+"="+value)
	}
	return environ, secrets
}

// perAttempt are the variables that each attempt has for itself.
var perAttempt = []string{"TASK_ID", "TASK_INDEX", "ATTEMPT", "RESUMED", "OUTPUT_DIR", "SLOT", "PWD", "OLDPWD"}

// own is the environment of one attempt.
func (j *job) own(i item, slot int, dir string, resumed bool) []string {
	index := strconv.FormatInt(i.attempt.Index, 10)
	again := "0"
	if resumed {
		again = "1"
	}
	return append(slices.Clip(j.environ), "TASK_ID="+j.sweep+"/"+index, "TASK_INDEX="+index,
		"ATTEMPT="+strconv.Itoa(i.attempt.Number), "RESUMED="+again, "OUTPUT_DIR="+dir, "SLOT="+strconv.Itoa(slot), "PWD="+dir)
}
