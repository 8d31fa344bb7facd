// Package definition reads tasks.yml: what the tasks of a project are, how each is run and what it
// leaves behind.
//
// The reader is strict and reports every fault of a file at once, each with its line, its column
// and a way out. The schema is the commented example projects/template/tasks.yml; a test holds the
// two together.
//
// Everything here is pure but Load, which reads a project's folder; all of it is safe for
// concurrent use.
package definition

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mlframework/sweep/fault"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// FileName is the name of the definitions in a project's folder.
const FileName = "tasks.yml"

// Defaults of what a task definition leaves out.
const (
	DefaultGrace     = 10 * time.Second
	DefaultRetryLost = 3
)

// File is one tasks.yml that was read without a fault. Whoever shares it must not change it.
type File struct {
	Image     string     // of the container that tasks run in; "" is none named
	Build     string     // folder of a Dockerfile, relative to the project; excludes Image
	Env       []Variable // in file order
	Secrets   []string   // names of variables; values are never part of a File
	Volumes   []string   // "source:target" or "source:target:ro", as written
	Container Container
	Outputs   []string     // top-level names that attempts make, beside the usual ones
	Link      []string     // clean paths of the project, slash-separated, that tasks get links to
	Copy      []string     // clean paths of the project that tasks get copies of, whatever their size
	Links     []HostLink   // in file order
	Notify    *task.Notify // who is told how sweeps end; nil: no notifications
	Tasks     []Task       // in file order, at least one, no two of one name

	Places Places // of variables of Env with names in braces
}

// Places are faults without what is wrong, for what only those can judge who know the parameters:
// by the key in the file, as command[2] or env.DATA_DIR. A problem is appended to that of the
// fault.
type Places map[string]fault.Fault

// Variable is one variable of the environment. The value is text as the file has it: 0.10 stays
// 0.10. Names in braces in it are replaced, and {{ and }} are braces.
type Variable struct {
	Name, Value string
}

// HostLink is a link in the folders of tasks to a path of the host.
type HostLink struct {
	Path   string // clean, relative to the folder, slash-separated
	Target string // absolute
}

// Container is what a project asks of its containers beyond the default. The zero value is the
// hardened default.
type Container struct {
	SharedMemory int64 // size of /dev/shm in bytes; 0 is the host's default
	Memory       int64 // limit for each slot in bytes; 0 is the host's default
	Processes    int   // limit for each slot; 0 is the host's default
	WritableRoot bool  // "read-only: false"
}

// Task is one task definition.
type Task struct {
	Name string
	// argv as written, to be passed through Expand; never empty
	Command []string
	// in file order; a variable of the file's Env gives way
	Env []Variable
	// once on every worker, instead of once for every point
	EachWorker bool
	// folder of the project that the command runs in; "" is its top
	Workdir string
	// file relative to the project, slash-separated; "" is none
	Parameters string
	// "--key value" instead of "--key=value"
	FlagsSpace bool
	// hydra, env or none, instead of flags; "": flags
	Flags string
	// that takes the parameters; nil: none
	File *task.File
	// how false is passed: no is "--no-key", value is "--key=false"; "": no flag
	Switch  string
	Timeout time.Duration // of one attempt; 0 is no limit
	// from SIGTERM to SIGKILL; 0 kills at once
	Grace time.Duration
	Idle  task.Idle
	Retry task.Retry
	// failed tasks that stop the sweep; 0 is never
	MaxFailures int
	// max-failures is 0 in the file: a sweep goes on also when its first tasks fail alike
	KeepGoing  bool
	task.Needs // of each task
	// what runs when a sweep has ended; nil: nothing
	OnEnd *task.OnEnd
	// patterns of the files that count for --missing; none: all
	Code    []string
	Metrics []metric.Rule // in file order
	// by which the tasks of a sweep are ranked; its metric need not be among Metrics: a program can
	// print it as a JSON line
	Objective metric.Objective

	Places  Places // of the command, flags, and what has names in braces
	NewKeys bool   // of File, while it is read
}

// Task returns the definition of that name. The error is an *UnknownTask.
func (f *File) Task(name string) (Task, error) {
	known := make([]string, len(f.Tasks))
	for i, t := range f.Tasks {
		if t.Name == name {
			return t, nil
		}
		known[i] = t.Name
	}
	return Task{}, &UnknownTask{Name: name, Nearest: fault.Nearest(name, known), Known: known}
}

// UnknownTask says that tasks.yml has no definition of that name. Nearest is "" when no known name
// is near.
type UnknownTask struct {
	Name    string
	Nearest string
	Known   []string // in file order
}

func (u *UnknownTask) Error() string {
	known := strings.Join(u.Known, ", ")
	if u.Nearest == "" || !slices.Contains(u.Known, u.Nearest) {
		return fmt.Sprintf("no definition %s in %s; it has %s", fault.Quote(u.Name), FileName, known)
	}
	return fmt.Sprintf("no definition %s in %s; did you mean %q? (it has %s)", fault.Quote(u.Name),
		FileName,
		u.Nearest, known)
}
