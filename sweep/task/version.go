package task

import (
	"encoding/json"
	"errors"
	"slices"

	"mlframework/sweep/metric"
)

// Versions of the wire form. What is written has the first version whose programs understand it:
// Version, but for what says otherwise. A reader refuses what is newer than Newest, in words. So
// that it can, these fields are in every version, and mean the same: of a Batch version, sweep, and
// attempts with index and number; of an Event version, kind, worker, sweep, index and attempt; of a
// Heartbeat version, worker, incarnation, program and host; of a Control version and kind; of a
// Piece version, id and worker.
const (
	Version = 1
	// SecretsVersion is that of a sweep's record, and of a Batch, whose recipe names secrets:
	// programs of version 1 would run it without their values.
	SecretsVersion = 2
	// FolderVersion is that of a record or Batch whose recipe names a workdir or links: earlier
	// programs would run the command in another folder, or without its data.
	FolderVersion = 3
	// ParametersVersion is that of a record or Batch whose program takes parameters otherwise than
	// as flags: earlier programs would run it without.
	ParametersVersion = 4
	// MetricsVersion is that of a record or Batch whose metrics are more than patterns: earlier
	// programs would read them otherwise, or not at all.
	MetricsVersion = 5
	// MeasureVersion is that of a Control that asks for a Measure: earlier programs would not
	// answer.
	MeasureVersion = 6
	// RulesVersion is that of a record whose space has rules, or points that lack a parameter:
	// earlier programs would make other points of it.
	RulesVersion = 7
	// GPUsVersion is that of a record or Batch whose tasks need GPUs: earlier programs would run them
	// without.
	GPUsVersion = 8
	Newest      = GPUsVersion
)

// Version is the version of a record or Batch of the recipe.
func (r Recipe) Version() int {
	switch {
	case r.GPUs != GPUs{}:
		return GPUsVersion
	case slices.ContainsFunc(r.Metrics, func(m metric.Rule) bool {
		return m != metric.Rule{Name: m.Name, Pattern: m.Pattern}
	}):
		return MetricsVersion
	case r.Hidden() || slices.ContainsFunc(r.Command, usesNewPlaceholders):
		return ParametersVersion
	case r.Workdir != "" || len(r.Links) > 0:
		return FolderVersion
	case len(r.Secrets) > 0:
		return SecretsVersion
	}
	return Version
}

// usesNewPlaceholders reports whether an argument has a name in braces that programs before
// ParametersVersion do not know.
func usesNewPlaceholders(argument string) bool {
	for p := range pieces(argument) {
		if p.name != "" && p.name != "host" && p.name != "slot" {
			return true
		}
	}
	return false
}

// outline has the fields of messages of every version: nothing else is read of newer ones.
type outline struct {
	Version     int    `json:"version"`
	ID          string `json:"id"`
	Kind        string `json:"kind"`
	Worker      string `json:"worker"`
	Incarnation string `json:"incarnation"`
	Program     string `json:"program"`
	Host        string `json:"host"`
	Sweep       string `json:"sweep"`
	Index       int64  `json:"index"`
	Attempt     int    `json:"attempt"`
	Attempts    []struct {
		Index  int64 `json:"index"`
		Number int   `json:"number"`
	} `json:"attempts"`
}

// readOutline reads the outline of a message of a newer version into a message; false if body is
// not such a message. A field that has another type now is left out.
func readOutline(body []byte, message any) bool {
	var o outline
	err := json.Unmarshal(body, &o)
	if _, partly := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !partly ||
		o.Version <= Newest {
		return false
	}
	known, err := json.Marshal(o)
	return err == nil && json.Unmarshal(known, message) == nil
}
