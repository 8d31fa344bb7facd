package task

import "mlframework/sweep/space"

// Batch is attempts of one sweep that travel together to one worker.
type Batch struct {
	Version  int       `json:"version"`
	Sweep    string    `json:"sweep"`
	Recipe   Recipe    `json:"recipe"`
	Attempts []Attempt `json:"attempts"`
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
}
