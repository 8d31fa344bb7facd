package task

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

	Incarnation string `json:"incarnation,omitempty"` // of RestartControl
	Now         bool   `json:"now,omitempty"`         // of RestartControl
	// of RestartControl: it is not to be started again, as another process has its name
	Taken bool `json:"taken,omitempty"`

	Edition string `json:"edition,omitempty"` // of SecretsControl: as in the Need
	// of SecretsControl: sealed to the Need's key, about what its About says
	Secrets []byte `json:"secrets,omitempty"`
}
