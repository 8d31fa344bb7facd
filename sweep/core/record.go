package core

import (
	"encoding/json"
	"fmt"

	"mlframework/sweep/metric"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// Record is what is fixed about a sweep when it is submitted, but for what people change later: its
// revision, its priority, and that it is extended.
type Record struct {
	Version int          `json:"version"`
	Recipe  task.Recipe  `json:"recipe"`
	Space   *space.Space `json:"space"`
	// Extensions are points added later: their indexes follow those of Space and of each other.
	Extensions []*space.Space `json:"extensions,omitempty"`
	Style      space.Style    `json:"style"`
	EachWorker bool           `json:"each_worker,omitempty"`
	// Workers are those of EachWorker: the n-th task is for the n-th of them; empty: for any.
	Workers     []string   `json:"workers,omitempty"`
	Ranges      Ranges     `json:"ranges,omitempty"`   // indexes of the sweep; empty: all
	Priority    int        `json:"priority,omitempty"` // sweeps of a higher one go first
	Retry       task.Retry `json:"retry"`
	MaxFailures int64      `json:"max_failures,omitempty"` // 0: never stop
	// KeepGoing says that the sweep is not paused when its first tasks fail alike.
	KeepGoing      bool             `json:"keep_going,omitempty"`
	Objective      metric.Objective `json:"objective"`
	Project        string           `json:"project"`                   // absolute path
	ParametersFile string           `json:"parameters_file,omitempty"` // in the project; "": none
	// CommandLine says that the command and its parameters were typed, and are not in tasks.yml.
	CommandLine bool `json:"command_line,omitempty"`
	// Overrides are those of the command line to that file at submission, and options of later
	// extensions; nil: none.
	Overrides *space.Change `json:"overrides,omitempty"`
	// Earlier is what attempts ran with before its revision or settings changed, oldest first.
	Earlier []Earlier `json:"earlier,omitempty"`
	Images  Images    `json:"images,omitempty"` // that attempts ran in
	// Pruned are the tasks whose outputs were removed, since they ran last; empty: none.
	Pruned Ranges `json:"pruned,omitempty"`
	// Notify is who is told how the sweep ends; nil: no notifications. Notices are what it was
	// told, or is to be, since the sweep was last let go on.
	Notify  *task.Notify `json:"notify,omitempty"`
	Notices []Notice     `json:"notices,omitempty"`
	// OnEnd is what runs when the sweep has ended; nil: nothing. After is the sweep whose OnEnd
	// this is; "": of none.
	OnEnd *task.OnEnd `json:"on_end,omitempty"`
	After string      `json:"after,omitempty"`
}

// Stored is the form in which a record is kept. It was read back: an error says why no program
// could read it.
func (r Record) Stored() (string, error) { return stored(r) }

func stored[T any](v T) (string, error) {
	form, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("write the sweep's record: %w", err)
	}
	if err := json.Unmarshal(form, new(T)); err != nil {
		return "", fmt.Errorf("the sweep's record could not be read again, and is not kept: %w",
			err)
	}
	return string(form), nil
}
