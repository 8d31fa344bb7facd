package task

import "time"

// ControlKind says what a Control asks of a worker.
type ControlKind string

// The kinds of control messages.
const (
	StopControl   ControlKind = "stop"   // one attempt: SIGTERM and its grace, or dropped when it has not begun
	RecallControl ControlKind = "recall" // give back every attempt of a sweep that has not begun
	FollowControl ControlKind = "follow" // send the live output of a sweep, or no longer (Off)
	DrainControl  ControlKind = "drain"  // give back what has not begun, finish what runs, take nothing new; or take again (Off)
	SlotsControl  ControlKind = "slots"  // run Slots attempts at a time from now on; 0: as many as the worker was started with
	ReadControl   ControlKind = "read"   // send a piece of an attempt's output: Read
	// MeasureControl: read the metrics of a task from what its attempts left: Measure. It has MeasureVersion.
	MeasureControl ControlKind = "measure"
	// ForgetControl: the answer to a Measure, of which only the ID is said, is not awaited any
	// more. Earlier programs ignore it.
	ForgetControl ControlKind = "forget"
	// RestartControl: the process of Incarnation, and no other, gives back what has not begun, takes nothing new, finishes what
	// runs, or with Now stops it, and ends, so that its supervisor starts another.
	RestartControl ControlKind = "restart"
	// SecretsControl answers a Need: the values of a sweep's secrets, sealed to the worker's process (Secrets).
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

	Incarnation string `json:"incarnation,omitempty"` // of RestartControl
	Now         bool   `json:"now,omitempty"`         // of RestartControl
	Taken       bool   `json:"taken,omitempty"`       // of RestartControl: it is not to be started again, as another process has its name

	Edition string `json:"edition,omitempty"` // of SecretsControl: as in the Need
	Secrets []byte `json:"secrets,omitempty"` // of SecretsControl: sealed to the Need's key, about what its About says
}

// Need asks for the values of a sweep's secrets. A worker says it with every heartbeat until they come.
type Need struct {
	Sweep   string `json:"sweep"`
	Edition string `json:"edition"` // of the Batch
}

// About is what sealed values are about: they open as the answer to this need of this worker only.
func (n Need) About(worker string) string { return worker + "\n" + n.Sweep + "\n" + n.Edition }

// MostNeeds is how many needs of one heartbeat are answered.
const MostNeeds = 64

// Read asks for a piece of what a task printed. Sweep, index and attempt are the Control's; 0 is the newest attempt.
type Read struct {
	ID     string `json:"id"` // the Piece has it, too
	Stderr bool   `json:"stderr,omitempty"`
	Offset int64  `json:"offset"` // in bytes
	Length int    `json:"length"` // in bytes, at most; no Piece has more than MostRead
	// File is the File of an earlier Piece: Offset counts in that file, whatever its name is now. Once nothing follows there
	// and another attempt printed after it, the Piece is of that one, from its beginning. "": Offset counts in the file asked for.
	File string `json:"file,omitempty"`
}

// MostRead is the longest Data of a Piece, in bytes.
const MostRead = 256 << 10

// Piece answers a Read or a Measure.
type Piece struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
	Worker  string `json:"worker"`
	Offset  int64  `json:"offset"`
	Data    []byte `json:"data,omitempty"`
	Size    int64  `json:"size"`             // of the file now, in bytes
	File    string `json:"file,omitempty"`   // identifies the file among all of a task; an older worker does not say it
	Absent  bool   `json:"absent,omitempty"` // there is no such file, or none yet
	Error   string `json:"error,omitempty"`  // why it cannot be read; for people

	Measured *Measured `json:"measured,omitempty"` // the answer to a Measure
}

// Heartbeat is how a worker makes itself known: at its start, every two seconds, and when its slots change.
type Heartbeat struct {
	Version     int       `json:"version"`
	Worker      string    `json:"worker"`
	Incarnation string    `json:"incarnation"`           // new with every start of the worker, greater than those before
	Time        time.Time `json:"time,omitzero"`         // by the clock that the worker's events have
	Program     string    `json:"program,omitempty"`     // version of the program, for people
	Image       string    `json:"image,omitempty"`       // of the container that it and its attempts run in, by digest; "": none, or not known
	Environment string    `json:"environment,omitempty"` // what the container was made of, in the words of who started it; "": not known
	Host        string    `json:"host"`
	Slots       int       `json:"slots"`
	Draining    bool      `json:"draining,omitempty"`
	Leaving     bool      `json:"leaving,omitempty"`    // it was asked to start again, and ends when nothing runs
	Unconfined  string    `json:"unconfined,omitempty"` // why its tasks can reach what it has, though it was to confine them; for people
	Refuses     string    `json:"refuses,omitempty"`    // why it takes none of the master's tasks, for people; "": it does
	Running     []Busy    `json:"running,omitempty"`
	Ending      int       `json:"ending,omitempty"`    // slots whose attempt has ended, while processes that it left are being ended
	Leftovers   []Busy    `json:"leftovers,omitempty"` // those attempts
	Waiting     int       `json:"waiting,omitempty"`   // attempts that were claimed and have not begun
	Unsent      int       `json:"unsent,omitempty"`    // events that the queue has not taken yet
	Told        bool      `json:"told,omitempty"`      // of JoinedEvent and LeftEvent: all that began stands in events before it
	Load        *Load     `json:"load,omitempty"`
	Reads       int       `json:"reads,omitempty"` // the newest version of a Batch that it reads; 0: Version
	Needs       []Need    `json:"needs,omitempty"` // values of secrets that attempts wait for
	Key         []byte    `json:"key,omitempty"`   // the public key of the process: what it needs is sealed to the one that it registered with
}

// Busy is a slot and the attempt whose program runs in it.
type Busy struct {
	Sweep   string    `json:"sweep"`
	Index   int64     `json:"index"`
	Attempt int       `json:"attempt"`
	Slot    int       `json:"slot"`
	Started time.Time `json:"started"`
}

// Load is how busy a worker's host is. What is not known is 0.
type Load struct {
	Cores       int     `json:"cores"`
	CPU         float64 `json:"cpu"`          // part of the cores that was busy since the heartbeat before: 0 to 1
	MemoryTotal int64   `json:"memory_total"` // bytes; of the worker's control group where that has less than the host
	MemoryFree  int64   `json:"memory_free"`  // bytes that programs could still get
	DiskTotal   int64   `json:"disk_total"`   // bytes, of the file system of the outputs
	DiskFree    int64   `json:"disk_free"`
}

// Line is one line of live output, without its line end. Live output is for people who follow: it is bounded and may
// have gaps; the whole output is in the task's files.
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
