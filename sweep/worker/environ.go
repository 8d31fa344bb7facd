package worker

import (
	"cmp"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"mlframework/sweep/task"
)

// environ is the part of the environment that all attempts of a sweep have in common, and the values of its secrets.
// What the worker says of an attempt stands above all, then what the definition sets, then what the worker chooses for
// programs, then what is inherited, then what a program expects to find.
func environ(o Options, sweep string, r task.Recipe) (all, secrets []string) {
	vars := expected(o)
	for _, v := range o.Environ {
		if name, value, ok := strings.Cut(v, "="); ok && name != "" {
			vars[name] = value
		}
	}
	if o.Caches != "" {
		vars["PYTHONPYCACHEPREFIX"] = filepath.Join(o.Caches, "pycache")
	}
	maps.Copy(vars, r.Env)
	maps.Copy(vars, map[string]string{"SWEEP_ID": sweep, "WORKER": o.Name, "HOST": o.Host})
	for _, name := range perAttempt {
		delete(vars, name)
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		all = append(all, name+"="+vars[name])
		if slices.Contains(r.Secrets, name) && len(vars[name]) >= ShortestSecret {
			secrets = append(secrets, vars[name])
		}
	}
	return all, secrets
}

// expected are variables that programs count on, for a worker that inherited none of them: in a container the user may
// have no name and no home.
func expected(o Options) map[string]string {
	name, home := strconv.Itoa(os.Getuid()), cmp.Or(o.Caches, "/")
	if u, err := user.Current(); err == nil {
		name, home = cmp.Or(u.Username, name), cmp.Or(u.HomeDir, home)
	}
	return map[string]string{"HOME": home, "USER": name, "LOGNAME": name}
}

// ompThreads is how many threads programs of numerical libraries start, where nobody else says it: cores / slots.
const ompThreads = "OMP_NUM_THREADS"

// perAttempt are the variables that each attempt has for itself.
var perAttempt = []string{"TASK_ID", "TASK_INDEX", "ATTEMPT", "RESUMED", "OUTPUT_DIR", "SLOT", "PWD", "OLDPWD"}

// own is the environment of one attempt, in one slot of so many.
func (j *job) own(i item, slot, slots int, dir string, resumed bool) []string {
	index := strconv.FormatInt(i.attempt.Index, 10)
	again := "0"
	if resumed {
		again = "1"
	}
	all := append(make([]string, 0, len(j.environ)+8), j.environ...)
	all = append(all, "TASK_ID="+j.sweep+"/"+index, "TASK_INDEX="+index, "ATTEMPT="+strconv.Itoa(i.attempt.Number),
		"RESUMED="+again, "OUTPUT_DIR="+dir, "SLOT="+strconv.Itoa(slot), "PWD="+dir)
	if !j.ownThreads {
		all = append(all, ompThreads+"="+strconv.Itoa(max(1, runtime.NumCPU()/slots)))
	}
	return all
}
