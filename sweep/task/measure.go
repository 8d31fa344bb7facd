package task

import (
	"time"

	"mlframework/sweep/metric"
)

// MeasureTime is how long a worker reads for one Measure.
const MeasureTime = time.Minute

// Measure asks for the metrics of a task, read from what its attempts left in its folder.
type Measure struct {
	ID      string        `json:"id,omitempty"` // the Piece that answers has it, too
	Metrics []metric.Rule `json:"metrics"`
	// the newest attempt's program ended by itself; see [Outcome.Exited]
	Exited bool `json:"exited,omitempty"`
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
}
