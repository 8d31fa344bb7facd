package worker

import (
	"cmp"
	"maps"
	"os"
	"os/user"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"mlframework/sweep/argv"
	"mlframework/sweep/task"
	"mlframework/sweep/worker/folder"
	"mlframework/sweep/worker/process"
)

// sweepEnviron returns the part of the environment that all attempts of a sweep share, without
// secrets. In order of precedence, it consists of what the worker says about an attempt, secrets,
// what the definition sets, what the worker chooses for programs, what is inherited, and defaults.
func sweepEnviron(o Options, sweep string, r task.Recipe) (all []string) {
	vars := expected(o)
	for _, v := range o.Inherited {
		// a parameter that a task does not have must not come from the user's shell
		if name, value, ok := strings.Cut(v, "="); ok && name != "" &&
			!strings.HasPrefix(name, argv.Prefix) {
			vars[name] = value
		}
	}
	if !r.EnvBraces { // else each attempt has its own
		maps.Copy(vars, r.Env)
	}
	maps.Copy(vars, map[string]string{"SWEEP_ID": sweep, "WORKER": o.Name, "HOST": o.Host,
		workerProcess: process.Identity()})
	for _, name := range perAttempt {
		delete(vars, name)
	}
	if r.EnvBraces {
		maps.DeleteFunc(vars, func(name, _ string) bool {
			_, its := r.Env[name]
			return its && !slices.Contains(perSweep, name)
		})
	}
	for _, name := range r.Secrets {
		if !slices.Contains(perSweep, name) {
			delete(vars, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		all = append(all, name+"="+vars[name])
	}
	return all
}

// expected returns variables that programs rely on, for a worker that did not inherit them: in a
// container the user may have no name and no home.
func expected(o Options) map[string]string {
	name, home := strconv.Itoa(os.Getuid()), cmp.Or(o.Home, "/")
	if u, err := user.Current(); err == nil {
		name, home = cmp.Or(u.Username, name), cmp.Or(u.HomeDir, home)
	}
	return map[string]string{"HOME": home, "USER": name, "LOGNAME": name, unbuffered: "1"}
}

// unbuffered makes Python write to a pipe at once. Otherwise metrics and progress would arrive at
// the end of a task.
const unbuffered = "PYTHONUNBUFFERED"

// ompThreads limits the threads of numerical libraries. Unless set otherwise, it is the CPUs that
// the task needs, or the cores divided by the tasks of its kind that run at a time.
const ompThreads = "OMP_NUM_THREADS"

var (
	// perSweep and perAttempt are the variables that the worker sets, the same for all attempts of
	// a sweep and for each attempt respectively.
	perSweep   = []string{"SWEEP_ID", "WORKER", "HOST", workerProcess}
	perAttempt = []string{"TASK_ID", "TASK_INDEX", "ATTEMPT", "RESUMED", "OUTPUT_DIR", "SLOT",
		secretsDirVar, "PWD", "OLDPWD"}
)

// workerProcess identifies the process that ends an attempt's processes: while it is alive, they
// are not leftovers.
const workerProcess = "WORKER_PROCESS"

// secretsDirVar names the folder in which an attempt finds its secrets as files.
const secretsDirVar = "SECRETS_DIR"

// environ returns the secrets as variables, and the variable that names their folder.
func (s *secretSet) environ(dir string) (all []string) {
	if s == nil {
		return nil
	}
	for name, value := range s.values {
		if !slices.Contains(perSweep, name) && !slices.Contains(perAttempt, name) {
			all = append(all, name+"="+value)
		}
	}
	return append(all, secretsDirVar+"="+dir)
}

// nameOf returns the name in NAME=value.
func nameOf(variable string) string {
	name, _, _ := strings.Cut(variable, "=")
	return name
}

// attemptEnviron returns the environment of one attempt, without secrets. given are the variables
// with parameters, which override inherited ones.
func (j *job) attemptEnviron(i item, slot, slots int, ws *folder.Workspace,
	given []string) []string {
	index := strconv.FormatInt(i.attempt.Index, 10)
	again := "0"
	if ws.Resumed {
		again = "1"
	}
	all := make([]string, 0, len(j.environ)+len(given)+8)
	for _, v := range j.environ {
		overridden := func(g string) bool { return nameOf(g) == nameOf(v) }
		if !strings.HasPrefix(v, argv.Prefix) || !slices.ContainsFunc(given, overridden) {
			all = append(all, v)
		}
	}
	for _, v := range given {
		if name := nameOf(v); !slices.Contains(perSweep, name) &&
			!slices.Contains(perAttempt, name) {
			all = append(all, v)
		}
	}
	all = append(all, "TASK_ID="+j.sweep+"/"+index, "TASK_INDEX="+index,
		"ATTEMPT="+strconv.Itoa(i.attempt.Number),
		"RESUMED="+again, "OUTPUT_DIR="+ws.Dir, "SLOT="+strconv.Itoa(slot), "PWD="+ws.Workdir)
	if !j.ownThreads {
		threads := cmp.Or(j.recipe.CPUs, max(1, runtime.NumCPU()/cmp.Or(i.atATime, slots)))
		all = append(all, ompThreads+"="+strconv.Itoa(threads))
	}
	return all
}
