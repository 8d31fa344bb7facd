package task

import (
	"time"

	"mlframework/sweep/metric"
)

// Recipe is what all attempts of a sweep share. It is part of the sweep's record and of every
// Batch.
type Recipe struct {
	Definition string            `json:"definition"`
	Command    []string          `json:"command"` // names in braces not yet replaced
	Env        map[string]string `json:"env,omitempty"`
	// names in braces in values of Env are replaced, too
	EnvBraces bool     `json:"env_braces,omitempty"`
	Secrets   []string `json:"secrets,omitempty"` // names only
	Revision  string   `json:"revision"`
	Outputs   []string `json:"outputs,omitempty"` // names that attempts make themselves
	// paths of the project that are linked into a task's folder, not copied
	Link []string `json:"link,omitempty"`
	// paths of the project that are copied, whatever their size
	Copy []string `json:"copy,omitempty"`
	// links in a task's folder to absolute paths of the host
	Links map[string]string `json:"links,omitempty"`
	// folder of the project that the command runs in; "" is the task's own
	Workdir string        `json:"workdir,omitempty"`
	Timeout time.Duration `json:"timeout,omitempty"` // 0: none
	Grace   time.Duration `json:"grace,omitempty"`
	Idle    Idle          `json:"idle,omitzero"`
	Metrics []metric.Rule `json:"metrics,omitempty"`
	Needs
	// ReadsParameters says that the program takes parameters from its environment or from
	// parameters.json.
	ReadsParameters bool  `json:"environment,omitempty"`
	File            *File `json:"file,omitempty"`
	// CountsRepeats says that space.RepeatName numbers the repeats and is not passed to the program.
	CountsRepeats bool `json:"counts_repeats,omitempty"`
}

// ParametersFile is the name of the file with a task's parameters, in its folder.
const ParametersFile = "parameters.json"

// File is a file of the project in which tasks find their parameters. Paths are clean, relative to
// the project and slash separated.
type File struct {
	From    string `json:"from"`
	To      string `json:"to"`                 // in the task's folder
	NewKeys bool   `json:"new_keys,omitempty"` // keys that the file does not have are added
}

// Hidden reports whether what parameters are does not show in the command line of a task.
func (r Recipe) Hidden() bool {
	return r.EnvBraces || r.ReadsParameters || r.File != nil || r.CountsRepeats
}

// Retry is how many failed attempts of one task are retried, by the class of their end. The zero
// value is none.
type Retry struct {
	Error   int `json:"error"`
	Timeout int `json:"timeout"`
	OOM     int `json:"oom"`
	Lost    int `json:"lost"`
}
