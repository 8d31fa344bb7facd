package task

import "fmt"

// State is where a task stands. The transitions between states are the ledger's (package core);
// docs/states.md draws them. The zero value is Pending.
type State uint8

// The numbers are kept in the store: they never change.
const (
	Pending   State = 0 // not handed to any worker
	Queued    State = 1 // on its way to a worker
	Claimed   State = 2 // held by a worker that has not begun it
	Running   State = 3
	Succeeded State = 4
	Failed    State = 5 // the program ended with an exit code other than 0, or by a signal
	Timeout   State = 6 // stopped because it ran longer than its definition allows
	OOM       State = 7 // ended by the kernel for want of memory
	Lost      State = 8 // its worker went away, or its host could not run it
	Cancelled State = 9 // by a person
)

// States lists every state in the order of a task's life.
var States = []State{Pending, Queued, Claimed, Running, Succeeded, Failed, Timeout, OOM, Lost,
	Cancelled}

var stateNames = [...]string{"pending", "queued", "claimed", "running", "succeeded", "failed",
	"timeout", "oom", "lost", "cancelled"}

func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("state %d", uint8(s))
}

// Predicate says of a task that it is in the state: "is running", "has succeeded".
func (s State) Predicate() string {
	switch s {
	case Succeeded, Failed:
		return "has " + s.String()
	case Timeout:
		return "has timed out"
	case OOM:
		return "has run out of memory"
	}
	return "is " + s.String()
}

// Terminal reports whether only a person's retry leads out of the state.
func (s State) Terminal() bool { return s >= Succeeded }

// Failure reports whether the state is a bad end: terminal, not succeeded, and not by a person's
// will.
func (s State) Failure() bool { return s.Terminal() && s != Succeeded && s != Cancelled }

// Active reports whether a worker has the task, or is about to.
func (s State) Active() bool { return s == Queued || s == Claimed || s == Running }

// ParseState reads a state's name.
func ParseState(name string) (State, error) {
	for i, n := range stateNames {
		if n == name {
			return State(i), nil
		}
	}
	return 0, fmt.Errorf("%q is not a state", name)
}

// MarshalText returns the state's name.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the state's name.
func (s *State) UnmarshalText(b []byte) (err error) {
	*s, err = ParseState(string(b))
	return err
}
