package task

import (
	"math"
	"slices"
	"time"

	"mlframework/sweep/metric"
	"mlframework/sweep/space"
)

// Batch is attempts of one sweep that travel together to one worker.
type Batch struct {
	Version  int       `json:"version"`
	Sweep    string    `json:"sweep"`
	Recipe   Recipe    `json:"recipe"`
	Attempts []Attempt `json:"attempts"`
	// Slots is how many of the worker's slots each attempt takes. 0: none, as it runs beside what
	// the slots count.
	Slots int `json:"slots"`
	// AtATime is how many such attempts the worker can run beside each other.
	AtATime int `json:"at_a_time,omitempty"`
	// Reserved says that the master kept what the attempts need: they start before others.
	Reserved bool `json:"reserved,omitempty"`
	// somebody follows the sweep's output: as FollowControl
	Follow bool `json:"follow,omitempty"`
	// which values of the recipe's secrets are meant; they themselves never travel so
	Edition string `json:"edition,omitempty"`
	// BaseEnv is what attempts inherit in place of what the worker does, as NAME=value, where both
	// are of one process; the Edition then says which it is. It never travels.
	BaseEnv []string `json:"-"`
}

// Attempt is one try at a task.
type Attempt struct {
	Index  int64    `json:"index"`
	Number int      `json:"number"` // from 1
	Args   []string `json:"args"`   // the point's flags, appended to the command

	// all of the point's, in the order of the file
	Parameters []space.Assignment `json:"parameters,omitempty"`

	// Devices are the GPUs that it gets, and Share what it has of each: 0 to 1.
	Devices []Device `json:"devices,omitempty"`
	Share   float64  `json:"share,omitempty"`

	// Since is the first attempt whose values count for this one; 0: all do.
	Since int `json:"since,omitempty"`
	// Fresh is the first attempt in whose folder this one may continue; 0: any.
	Fresh int `json:"fresh,omitempty"`
}

// ControlKind says what a Control asks of a worker.
type ControlKind string

// The kinds of control messages.
const (
	// one attempt: SIGTERM and its grace, or dropped when it has not begun
	StopControl   ControlKind = "stop"
	RecallControl ControlKind = "recall" // give back every attempt of a sweep that has not begun
	FollowControl ControlKind = "follow" // send the live output of a sweep, or no longer (Off)
	// give back what has not begun, finish what runs, take nothing new; or take again (Off)
	DrainControl ControlKind = "drain"
	// run Slots attempts at a time from now on; 0: as many as the worker was started with
	SlotsControl ControlKind = "slots"
	ReadControl  ControlKind = "read" // send a piece of an attempt's output: Read
	// MeasureControl: read the metrics of a task from what its attempts left: Measure.
	MeasureControl ControlKind = "measure"
	// ForgetControl: the answer to a Measure, of which only the ID is said, is not awaited any
	// more.
	ForgetControl ControlKind = "forget"
	// RestartControl: the process of Incarnation, and no other, gives back what has not begun,
	// takes nothing new, finishes what runs, or with Now stops it, and ends, so that its supervisor
	// starts another.
	RestartControl ControlKind = "restart"
	// RemoveControl: remove the outputs of a sweep: Remove.
	RemoveControl ControlKind = "remove"
	// SecretsControl answers a Need: the values of a sweep's secrets, sealed to the worker's
	// process (Secrets).
	SecretsControl ControlKind = "secrets"
)

// Control is a message from the master to one worker.
type Control struct {
	Version int         `json:"version"`
	Kind    ControlKind `json:"kind"`
	Sweep   string      `json:"sweep,omitempty"` // of FollowControl with Off, "": every sweep
	Index   int64       `json:"index,omitempty"`
	Attempt int         `json:"attempt,omitempty"`
	Off     bool        `json:"off,omitempty"`
	Slots   int         `json:"slots,omitempty"`   // of SlotsControl
	Read    *Read       `json:"read,omitempty"`    // of ReadControl
	Reason  string      `json:"reason,omitempty"`  // for people
	Measure *Measure    `json:"measure,omitempty"` // of MeasureControl
	Remove  *Remove     `json:"remove,omitempty"`  // of RemoveControl

	Incarnation string `json:"incarnation,omitempty"` // of RestartControl
	Now         bool   `json:"now,omitempty"`         // of RestartControl
	// of RestartControl: it is not to be started again, as another process has its name
	Taken bool `json:"taken,omitempty"`

	Edition string `json:"edition,omitempty"` // of SecretsControl: as in the Need
	// of SecretsControl: sealed to the Need's key, about what its About says
	Secrets []byte `json:"secrets,omitempty"`
}

// EventKind says what an Event reports.
type EventKind string

// The kinds of events, in the order in which they happen to one attempt.
const (
	ClaimedEvent  EventKind = "claimed"  // the worker holds the attempt
	ReturnedEvent EventKind = "returned" // given back before it began
	StartedEvent  EventKind = "started"  // its program runs
	SamplesEvent  EventKind = "samples"  // metrics seen while it runs
	// Outcome says how; what its program left is gone when its grace is over, at the latest
	EndedEvent EventKind = "ended"
)

// The kinds of events of a worker itself. They have no sweep, index or attempt.
const (
	// a worker has begun: what an earlier one of its name had claimed or ran is gone
	JoinedEvent EventKind = "joined"
	// a worker ends by itself: it takes nothing more, and has reported everything
	LeftEvent EventKind = "left"
)

// Event is what a worker tells the master about one attempt. Events of one worker arrive in order
// and may repeat.
type Event struct {
	Version int       `json:"version"`
	Kind    EventKind `json:"kind"`
	Worker  string    `json:"worker"`
	Sweep   string    `json:"sweep"`
	Index   int64     `json:"index"`
	Attempt int       `json:"attempt"`
	Time    time.Time `json:"time"`
	// of StartedEvent, and of EndedEvent when the program began
	Start   *Start          `json:"start,omitempty"`
	Samples []metric.Sample `json:"samples,omitempty"` // of SamplesEvent
	// of SamplesEvent: the metrics as they are now
	Newest  metric.Stored `json:"newest,omitempty"`
	Outcome *Outcome      `json:"outcome,omitempty"` // of EndedEvent
	// Leftovers, of EndedEvent, says that processes of its program are still being ended, until no
	// heartbeat lists it.
	Leftovers bool       `json:"leftovers,omitempty"`
	Heartbeat *Heartbeat `json:"beat,omitempty"` // of JoinedEvent and LeftEvent
}

// Began is when the program of an attempt began, of a StartedEvent or an EndedEvent with Start, by
// the worker's clock.
func (e Event) Began() time.Time {
	if e.Kind == EndedEvent && e.Outcome != nil {
		return e.Time.Add(-e.Outcome.Duration)
	}
	return e.Time
}

// ID names the event's task.
func (e Event) ID() ID { return ID{e.Sweep, e.Index} }

// Start is where an attempt began.
type Start struct {
	Host    string `json:"host"`
	Slot    int    `json:"slot"`              // from 0
	Resumed bool   `json:"resumed,omitempty"` // outputs of an earlier attempt were there
	// of the worker's container, by digest; "": none, or not known
	Image string `json:"image,omitempty"`
}

// Need asks for the values of a sweep's secrets. A worker says it with every heartbeat until they
// come.
type Need struct {
	Sweep   string `json:"sweep"`
	Edition string `json:"edition"` // of the Batch
}

// About is what sealed values are about: they open as the answer to this need of this worker only.
func (n Need) About(worker string) string { return worker + "\n" + n.Sweep + "\n" + n.Edition }

// Heartbeat is how a worker makes itself known: at its start, every two seconds, and when its slots
// change.
type Heartbeat struct {
	Version int    `json:"version"`
	Worker  string `json:"worker"`
	// new with every start of the worker, greater than those before
	Incarnation string `json:"incarnation"`
	// by the clock that the worker's events have
	Time    time.Time `json:"time,omitzero"`
	Program string    `json:"program,omitempty"` // version of the program, for people
	// of the container that it and its attempts run in, by digest; "": none, or not known
	Image string `json:"image,omitempty"`
	// what the container was made of, in the words of who started it; "": not known
	Environment string `json:"environment,omitempty"`
	Host        string `json:"host"`
	// Boot is the machine's boot, which tells machines with one host name apart; "": not known.
	Boot  string `json:"boot,omitempty"`
	Slots int    `json:"slots"`
	// SlotsChosen says that a person chose the number of slots. Otherwise it is that of the cores,
	// and an attempt with GPUs takes none.
	SlotsChosen bool `json:"slots_chosen,omitempty"`
	// CPUs and Memory (bytes) are what attempts may use together; 0: not known.
	CPUs   int   `json:"cpus,omitempty"`
	Memory int64 `json:"memory,omitempty"`
	// Labels of the host, with HostLabel and ArchLabel.
	Labels map[string]string `json:"labels,omitempty"`
	// those that its attempts may get; nil: none
	GPUs []GPU `json:"gpus,omitempty"`
	// why the host's GPUs cannot be listed, or are not yet, for people: GPUs says nothing then of
	// what attempts may get later; "": it has all
	GPUFault string `json:"gpu_fault,omitempty"`
	// it takes nothing new: it was asked to, or is Leaving or Closing
	Draining bool `json:"draining,omitempty"`
	// it was asked to start again, and ends when nothing runs
	Leaving bool `json:"leaving,omitempty"`
	// it ends: what runs is being stopped, with its grace
	Closing bool `json:"closing,omitempty"`
	// why its tasks can reach what it has, though it was to confine them; for people
	Unconfined string `json:"unconfined,omitempty"`
	// why it takes none of the master's tasks, for people; "": it does
	Refuses string `json:"refuses,omitempty"`
	Running []Busy `json:"running,omitempty"`
	// slots whose attempt has ended, while processes that it left are being ended
	Ending    int    `json:"ending,omitempty"`
	Leftovers []Busy `json:"leftovers,omitempty"` // those attempts
	// attempts that were claimed and have not begun
	Waiting int `json:"waiting,omitempty"`
	Unsent  int `json:"unsent,omitempty"` // events that the queue has not taken yet
	// of JoinedEvent and LeftEvent: all that began stands in events before it
	StartsReported bool   `json:"told,omitempty"`
	Load           *Load  `json:"load,omitempty"`
	Needs          []Need `json:"needs,omitempty"` // values of secrets that attempts wait for
	// revisions whose files attempts need and that are not on its host: it gets no tasks of them
	Lacks []string `json:"lacks,omitempty"`
	// the public key of the process: what it needs is sealed to the one that it registered with
	Key []byte `json:"key,omitempty"`
}

// Busy is a slot and the attempt whose program runs in it.
type Busy struct {
	Sweep   string    `json:"sweep"`
	Index   int64     `json:"index"`
	Attempt int       `json:"attempt"`
	Slot    int       `json:"slot"`
	Started time.Time `json:"started"`
	GPUs    []string  `json:"gpus,omitempty"` // UUIDs of those that it has
}

// Load is how busy a worker's host is. What is not known is 0.
type Load struct {
	Cores int `json:"cores"`
	// part of the cores that was busy since the heartbeat before: 0 to 1
	CPU float64 `json:"cpu"`
	// bytes; of the worker's control group where that has less than the host
	MemoryTotal int64 `json:"memory_total"`
	MemoryFree  int64 `json:"memory_free"` // bytes that programs could still get
	DiskTotal   int64 `json:"disk_total"`  // bytes, of the file system of the outputs
	DiskFree    int64 `json:"disk_free"`
}

// Line is one line of live output, without its line end. Live output is for people who follow: it
// is bounded and may have gaps; the whole output is in the task's files.
type Line struct {
	Sweep   string    `json:"sweep"`
	Index   int64     `json:"index"`
	Attempt int       `json:"attempt"`
	Host    string    `json:"host"`
	Slot    int       `json:"slot"`
	Stderr  bool      `json:"stderr,omitempty"`
	Time    time.Time `json:"time"`
	Text    string    `json:"text"`
	Missed  int64     `json:"missed,omitempty"` // lines of this stream left out before this one
	// Worker is who sent it, as the queue knows: it is not in what travels.
	Worker string `json:"-"`
}

// Read asks for a piece of what a task printed. Sweep, index and attempt are the Control's; 0 is
// the newest attempt.
type Read struct {
	ID     string `json:"id"` // the Piece has it, too
	Stderr bool   `json:"stderr,omitempty"`
	Offset int64  `json:"offset"` // in bytes
	Length int    `json:"length"` // in bytes, at most; no Piece has more than MaxPieceBytes
	// File is the File of an earlier Piece: Offset counts in that file, whatever its name is now.
	// Once nothing follows there and another attempt printed after it, the Piece is of that one,
	// from its beginning. "": Offset counts in the file asked for.
	File string `json:"file,omitempty"`
}

// Remove asks for the removal of what attempts of a sweep left.
type Remove struct {
	ID string `json:"id"` // the Piece that answers has it, too
	// Tasks are the ranges of indexes, from and up to, of the tasks whose outputs are meant; none:
	// all that is there.
	Tasks [][2]int64 `json:"tasks,omitempty"`
}

// Piece answers a Read, a Measure or a Remove.
type Piece struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
	Worker  string `json:"worker"`
	Offset  int64  `json:"offset"`
	Data    []byte `json:"data,omitempty"`
	Size    int64  `json:"size"` // of the file now, in bytes
	// identifies the file among all of a task
	File   string `json:"file,omitempty"`
	Absent bool   `json:"absent,omitempty"` // there is no such file, or none yet
	// Gone is the path of the task's folder if it does not exist. Absent is set then, too.
	Gone  string `json:"gone,omitempty"`
	Error string `json:"error,omitempty"` // why it cannot be read or removed; for people

	Measured *Measured `json:"measured,omitempty"` // the answer to a Measure
}

// MeasureTime is how long a worker reads for one Measure.
const MeasureTime = time.Minute

// Measure asks for the metrics of a task, read from what its attempts left in its folder.
type Measure struct {
	ID      string        `json:"id,omitempty"` // the Piece that answers has it, too
	Metrics []metric.Rule `json:"metrics"`
	// the newest attempt's program ended by itself; see [Outcome.Exited]
	Exited bool `json:"exited,omitempty"`
	Since  int  `json:"since,omitempty"` // Attempt.Since of the newest attempt
	// the project's files of the newest attempt, whose values do not count
	Revision string `json:"revision,omitempty"`
	// its files may hold secrets: nothing is quoted from them
	Hide bool `json:"hide,omitempty"`
}

// Measured is the metrics of a task as a Measure found them. Of what is not a number, that of the
// newest attempt is reported.
type Measured struct {
	Metrics metric.Stored `json:"metrics"`
	// what matched there last and was no number
	Stdout     []metric.Rejected `json:"stdout,omitempty"`
	Stderr     []metric.Rejected `json:"stderr,omitempty"`
	Unmeasured []string          `json:"unmeasured,omitempty"` // why metrics of files are missing
	// Incomplete names metrics of files that may have held more values than are left: of a JSON
	// document that is written anew each time, the last.
	Incomplete []string `json:"incomplete,omitempty"`
}

// KeepValues restores the task's previous values of metrics that can no longer be read. It returns
// gone, the metrics for which no value was found, unless removed reports that tasks.yml no longer
// has the metric, and kept, the incomplete metrics for which only a later value was found. Rules
// are those with which previous was read: only their metrics are kept, others remain incomplete.
func (m *Measured) KeepValues(previous metric.Final, rules []metric.Rule,
	removed func(name string) bool) (kept, gone []string) {
	all := slices.Clone(metric.Final(m.Metrics))
	for _, before := range previous {
		name := before.Name
		now := slices.IndexFunc(all, func(v metric.FinalValue) bool { return v.Name == name })
		rule := slices.IndexFunc(rules, func(r metric.Rule) bool { return r.Name == name })
		incomplete := slices.Index(m.Incomplete, name)
		switch {
		case now < 0 && removed(name):
			continue
		case now < 0:
			all = append(all, before)
			gone = append(gone, name)
		case incomplete < 0 || rule < 0:
			continue
		case !rules[rule].Take.Replaces(before.Value, all[now].Value):
			if v := before.Value; v != all[now].Value && !math.IsNaN(v) {
				kept = append(kept, name)
			}
			all[now] = before
		}
		m.Incomplete = slices.DeleteFunc(slices.Clone(m.Incomplete),
			func(of string) bool { return of == name })
	}
	m.Metrics = metric.Stored(all)
	return kept, gone
}
