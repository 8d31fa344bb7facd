package core

import (
	"log/slog"
	"time"

	"mlframework/sweep/task"
)

// Rows is what a step asks to be kept, in one transaction.
type Rows struct {
	Sweeps  []SweepRows
	Workers []WorkerRecord
	Gone    []string // workers whose rows go
	Removed []RemovedSweep
	Pruned  []PrunedOutputs
	Audit   []AuditEntry
}

// Empty reports whether there is nothing to keep.
func (r *Rows) Empty() bool {
	return len(r.Sweeps)+len(r.Workers)+len(r.Gone)+len(r.Removed)+len(r.Pruned)+len(r.Audit) == 0
}

// RemovedSweep is a sweep that is no longer listed, and whose outputs are to be removed.
type RemovedSweep struct {
	Sweep   string
	Workers []string // that ran tasks of it
}

// PrunedOutputs are the outputs of some tasks of a sweep, which are to be removed.
type PrunedOutputs struct {
	Sweep   string
	Tasks   Ranges
	Workers []string // that ran tasks of it
}

// SweepRows is what changed about one sweep.
type SweepRows struct {
	Seq     int64
	Record  *Record // is not changed any more
	Head    Head    // as it is now
	Changes Changes
	Rewrite bool   // Record is not in the store as it is
	Code    string // of another revision in Record; "": it is as before, or has none
	Ranked  bool   // the objective in Record is another
}

// Effects is what a step does beside its rows. It is to be had from Output.Commit only, so that
// nothing is sent before it is kept.
type Effects struct {
	Messages []Message   // in order for each worker
	Changed  []SweepRows // what was kept
	Blocked  []SweepRows // sweeps of which only the reasons why tasks wait have changed
	Vault    []VaultChange
	Err      error // of the command
}

// Message goes to one worker: batches, a control message, the values of secrets, or the removal
// of everything that waits for it.
type Message struct {
	Worker  string
	Batches []task.Batch
	Control *task.Control
	Secrets *SecretsRelease
	Remove  bool
}

// SecretsRelease is the values of a sweep's secrets, to be sealed with the key of a process.
type SecretsRelease struct {
	Need task.Need
	Key  []byte
}

// VaultChange is what becomes of the values of a sweep's secrets.
type VaultChange struct {
	Sweep       string
	Remove      bool
	PausedSince time.Time // zero: it is not paused
}

// LogEntry is a line for the master's log.
type LogEntry struct {
	Level slog.Level
	Text  string
	Args  []any
}

// Output is what a step decided.
type Output struct {
	rows    Rows
	effects Effects
	Log     []LogEntry
	// Supplied says that every worker has enough at hand until the next step.
	Supplied bool
	Events   int           // events of known workers among those that came in
	Refused  int           // events of attempts that their worker never had
	Lag      time.Duration // age of the oldest of them, corrected by the clocks in heartbeats
}

// Commit writes the rows of the step and returns its effects. On an error of write there are none.
// Write is not called when there is nothing to keep.
func (o *Output) Commit(write func(*Rows) error) (Effects, error) {
	if !o.rows.Empty() {
		if err := write(&o.rows); err != nil {
			return Effects{}, err
		}
	}
	o.effects.Changed = o.rows.Sweeps
	return o.effects, nil
}
