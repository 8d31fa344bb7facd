package api

import (
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/secret"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// The JSON names of the types here are the contract of the API; docs/api.yaml says what each means.

// Sweep is a sweep and what is needed to show it.
type Sweep struct {
	core.Summary
	Record core.Record `json:"record"`
	Begun  int64       `json:"begun"` // tasks that were handed out at least once, or ended
	Checks *Checks     `json:"checks"`
}

// Checks is what is worth a warning about the results of a sweep. It costs a look at all of its
// tasks.
type Checks struct {
	// tasks by the revision that their newest attempt ran
	Revisions map[string]int64 `json:"revisions"`
	// tasks that succeeded without a number for the objective
	Unranked int64   `json:"unranked"`
	NaN      int64   `json:"nan"`   // those of them that reported nan for it
	First    []int64 `json:"first"` // the first of them
	// tasks whose output was not kept in full, by host
	Unkept     []core.Unkept     `json:"unkept"`
	Unread     []core.Unread     `json:"unread"`     // what matched a metric and was no number
	Unmeasured []core.Unmeasured `json:"unmeasured"` // why metrics of files are missing
	// where the objective takes the last value: tasks that had a better one before
	Surpassed *core.Surpassed `json:"surpassed"`
}

// Task is one task with its attempts.
type Task struct {
	Row      table.Row       `json:"task"`
	Attempts []Attempt       `json:"attempts"` // the oldest first
	Series   []metric.Sample `json:"series"`   // every number that the newest attempt printed
}

// Attempt is one try at a task.
type Attempt struct {
	Attempt    int             `json:"attempt"`
	Class      *task.Class     `json:"class"` // null while it runs
	Reason     *string         `json:"reason"`
	ExitCode   *int            `json:"exit_code"`
	Worker     string          `json:"worker"` // that it was handed to
	Host       *string         `json:"host"`   // null: it is not known to have begun
	Slot       *int            `json:"slot"`
	Started    *time.Time      `json:"started"`
	Duration   *float64        `json:"duration"` // seconds
	Revision   string          `json:"revision"`
	Resumed    bool            `json:"resumed"`    // outputs of an earlier attempt were there
	Superseded bool            `json:"superseded"` // its result came too late, and does not count
	Metrics    metric.Final    `json:"metrics"`
	Infinite   metric.Infinite `json:"infinite,omitempty"`  // of Metrics
	Steps      metric.Steps    `json:"steps,omitempty"`     // of Metrics
	Positions  metric.Spans    `json:"positions,omitempty"` // of Metrics
	Stdout     *task.Output    `json:"stdout"`
	Stderr     *task.Output    `json:"stderr"`
	Unmeasured []string        `json:"unmeasured,omitempty"` // why metrics of files are missing
	// of its metrics' values only some are in Series
	Thinned *metric.Thinned `json:"thinned,omitempty"`
}

// Page is some of a sweep's tasks.
type Page struct {
	Tasks []table.Row `json:"tasks"`
	Next  string      `json:"next,omitempty"` // the After of the next page; "": this was the last
}

// AllTasks is some of the tasks of all sweeps.
type AllTasks struct {
	Tasks []table.Row `json:"tasks"`
	Next  string      `json:"next,omitempty"` // the After of the next page; "": this was the last
	// Searched is how many sweeps were looked through to their end for the page. The next page goes
	// on behind them, but in the order of a column every page is made from the same.
	Searched int `json:"searched"`
	// WithoutColumn is how many of these do not have a column that the query names, and so no
	// tasks.
	WithoutColumn int `json:"without_column"`
}

// Submission is a sweep to be run. How many tasks it has follows from its record.
type Submission struct {
	Record    core.Record `json:"record"`
	Code      string      `json:"code"`                 // of the record's revision
	MinNumber int64       `json:"min_number,omitempty"` // the number in the sweep's id is at least this
	// Same are further revisions of the same code, as known to a client that has their files. Only Missing
	// asks for them.
	Same []string `json:"same,omitempty"`
	// Secrets are the values of the secrets that the recipe names. They are kept apart from
	// everything else, until the sweep ends.
	Secrets secret.Values `json:"secrets,omitempty"`
	// Environ is what its tasks inherit, as NAME=value, in place of what the worker of a run of one
	// folder does. Other masters refuse it.
	Environ Environ `json:"environ,omitempty"`
}

// StartedSweep is a sweep that has begun, or gone on.
type StartedSweep struct {
	core.Summary
	Events string // for Following: what happens from the beginning on; "" when it was not asked for
}

// Total is how many tasks a sweep of a record has.
func Total(r core.Record) int64 {
	if len(r.Ranges) > 0 {
		return r.Ranges.Len()
	}
	if r.Space == nil {
		return 0
	}
	return r.Space.Len()
}

// Continuation is what a sweep goes on with. The zero value keeps its own.
type Continuation struct {
	Revision string `json:"revision,omitempty"` // "": the sweep's own
	Code     string `json:"code,omitempty"`     // of Revision
	// Settings are those of attempts from now on; nil: the sweep's own.
	Settings *core.Settings `json:"settings,omitempty"`
	// Secrets are needed where the values of the sweep's secrets are gone; else they are not taken.
	Secrets secret.Values `json:"secrets,omitempty"`
	Environ Environ       `json:"environ,omitempty"` // as in Submission, from now on
}

// ResumeRequest is how a sweep goes on.
type ResumeRequest struct {
	Continuation
	// Indexes are the tasks, of Retry; none: all that ended other than well.
	Indexes []int64 `json:"indexes,omitempty"`
}

// Missing is the points of a space in which no task of the same command and code has succeeded.
type Missing struct {
	All    bool        `json:"all"`    // every point is missing
	Ranges core.Ranges `json:"ranges"` // where not all are
	// Because is what is different from the newest tasks of the same definition and parameters that
	// succeeded, of the first thousand missing points, the most frequent first. Without any such
	// task it is empty.
	Because []Cause `json:"because,omitempty"`
}

// What a Cause says is different.
const (
	CauseCode        = "code"
	CauseCommand     = "command"
	CauseImage       = "image"
	CauseEnvironment = "environment"
	CauseFolder      = "folder" // its workdir or links
	CauseNew         = "new"    // no task of those parameters has succeeded
)

// Cause is why points are missing.
type Cause struct {
	What     string `json:"what"`
	Sweep    string `json:"sweep,omitempty"`    // the newest of those with which the points are compared
	Revision string `json:"revision,omitempty"` // that it ran
	Points   int64  `json:"points"`
}

// Broker is how the queue is reached.
type Broker struct {
	Away      bool       `json:"away"`
	Since     *time.Time `json:"since"`     // when it was reached or went away, UTC; null: not known
	Reason    *string    `json:"reason"`    // why it is away
	Blocked   *string    `json:"blocked"`   // it takes nothing for now, and why
	Program   *string    `json:"program"`   // name and version
	Revisions *string    `json:"revisions"` // the folder on this machine in which workers find files; null: there is none
	Queues    []Depth    `json:"queues"`    // what waits in each; null: not asked for, or it cannot be asked now
}

// Level is a number that grows with what a client of the same program may send, so that those of
// before refuse it. It tells programs apart whose versions are not stamped; 0 is of before it was
// told.
const Level = 1

// Health says that the API is up, and what it is.
type Health struct {
	Up      bool   `json:"up"`
	Program string `json:"program"` // version
	Level   int    `json:"level"`   // of the API: the Level of the program
	Version int    `json:"version"` // of the records and messages that this program understands
	// Warnings is what people should know: what workers tell and the store does not know, and names
	// that two workers have.
	Warnings []Reason `json:"warnings"`
}

// Readiness tells whether a sweep that is submitted would run.
type Readiness struct {
	Ready   bool     `json:"ready"`
	Reasons []Reason `json:"reasons"` // why not
}

// Reason is one thing that keeps sweeps from running.
type Reason struct {
	What  string     `json:"what"`  // "broker" or "store"
	Text  string     `json:"text"`  // cause and remedy
	Since *time.Time `json:"since"` // UTC; null: not known
}

// String is the reason as a person reads it.
func (r Reason) String() string {
	if r.Since == nil {
		return r.Text
	}
	return r.Text + ", since " + r.Since.Local().Format(time.DateTime)
}

// Newest is the name under which the newest sweep is found. No sweep has it as its id.
const Newest = "newest"
