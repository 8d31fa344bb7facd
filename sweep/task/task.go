// Package task is the vocabulary of a sweep: identities, states, what a master sends to a worker, and what comes back.
//
// Values of this package are written to queues and to the store, so their JSON form is versioned and only ever grows:
// a field may be added, none may change its meaning. Everything under sweep and the commands may import it.
package task

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mlframework/sweep/metric"
)

// Versions of the wire form. What is written has the first version whose programs understand it: Version, but for what says
// otherwise. A reader refuses what is newer than Newest, in words. So that it can, these fields are in every version, and mean
// the same: of a Batch version, sweep, and attempts with index and number; of an Event version, kind, worker, sweep, index and
// attempt; of a Heartbeat version, worker, incarnation, program and host; of a Control version and kind; of a Piece version,
// id and worker.
const (
	Version = 1
	// SecretsVersion is that of a sweep's record, and of a Batch, whose recipe names secrets: programs of version 1 would run it
	// without their values.
	SecretsVersion = 2
	// FolderVersion is that of a record or Batch whose recipe names a workdir or links: earlier programs would run the command
	// in another folder, or without its data.
	FolderVersion = 3
	// ParametersVersion is that of a record or Batch whose program takes parameters otherwise than as flags: earlier programs would
	// run it without.
	ParametersVersion = 4
	// MetricsVersion is that of a record or Batch whose metrics are more than patterns: earlier programs would read them otherwise, or
	// not at all.
	MetricsVersion = 5
	// MeasureVersion is that of a Control that asks for a Measure: earlier programs would not answer.
	MeasureVersion = 6
	// RulesVersion is that of a record whose space has rules, or points that lack a parameter:
	// earlier programs would make other points of it.
	RulesVersion = 7
	Newest       = RulesVersion
)

// Version is the version of a record or Batch of the recipe.
func (r Recipe) Version() int {
	switch {
	case slices.ContainsFunc(r.Metrics, func(m metric.Rule) bool {
		return m != metric.Rule{Name: m.Name, Pattern: m.Pattern}
	}):
		return MetricsVersion
	case r.Hidden() || slices.ContainsFunc(r.Command, expandsNew):
		return ParametersVersion
	case r.Workdir != "" || len(r.Links) > 0:
		return FolderVersion
	case len(r.Secrets) > 0:
		return SecretsVersion
	}
	return Version
}

// expandsNew reports whether an argument has a name in braces that programs before ParametersVersion do not know.
func expandsNew(argument string) bool {
	for p := range pieces(argument) {
		if p.name != "" && p.name != "host" && p.name != "slot" {
			return true
		}
	}
	return false
}

// ID names one task: a point of a sweep. Its text is "run_training-7/42".
type ID struct {
	Sweep string
	Index int64 // from 0, the point's index in the sweep's space
}

func (id ID) String() string { return id.Sweep + "/" + strconv.FormatInt(id.Index, 10) }

// ParseID reads the text form of an ID, and no other way to write one, such as run_training-7/042.
func ParseID(s string) (ID, error) {
	sweep, index, _ := strings.Cut(s, "/")
	n, err := strconv.ParseInt(index, 10, 64)
	id := ID{sweep, n}
	if sweep == "" || err != nil || n < 0 || id.String() != s {
		return ID{}, fmt.Errorf("%q is not a task: write SWEEP/INDEX, such as run_training-7/42", s)
	}
	return id, nil
}

// SweepID is the name of the n-th sweep of a definition, "run_training-7".
func SweepID(definition string, n int64) string { return definition + "-" + strconv.FormatInt(n, 10) }
