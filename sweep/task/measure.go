package task

import (
	"math"
	"slices"
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
	// Incomplete names metrics of files that may have held more values than are left: of a JSON
	// document that is written anew each time, the last.
	Incomplete []string `json:"incomplete,omitempty"`
}

// KeepValues gives incomplete metrics the values that the task had, had, which count also what the
// files held before. That holds for metrics with one of the rules, by which had was read; the
// others remain incomplete. It returns the metrics of which another value is left in the files.
func (m *Measured) KeepValues(had metric.Final, rules []metric.Rule) (kept []string) {
	all := slices.Clone(metric.Final(m.Metrics))
	m.Incomplete = slices.DeleteFunc(slices.Clone(m.Incomplete), func(name string) bool {
		byName := func(v metric.FinalValue) bool { return v.Name == name }
		rule := slices.IndexFunc(rules, func(r metric.Rule) bool { return r.Name == name })
		before, now := slices.IndexFunc(had, byName), slices.IndexFunc(all, byName)
		if rule < 0 || before < 0 {
			return false
		}
		switch {
		case now < 0:
			all = append(all, had[before])
			kept = append(kept, name)
		case !rules[rule].Take.Replaces(had[before].Value, all[now].Value):
			if v := had[before].Value; v != all[now].Value && !math.IsNaN(v) {
				kept = append(kept, name)
			}
			all[now] = had[before]
		}
		return true
	})
	m.Metrics = metric.Stored(all)
	return kept
}
