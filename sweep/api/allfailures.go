package api

import (
	"context"
	"net/url"
	"time"

	"mlframework/sweep/failure"
	"mlframework/sweep/task"
)

// AllFailures are the tasks of all sweeps that failed, by how.
type AllFailures struct {
	Groups []SharedFailure `json:"groups"` // the most frequent first
	// tasks that are in none of the groups, where there are very many
	Others int64 `json:"others"`
	// older sweeps whose failed tasks were not looked at, as the newer ones have very many, and sweeps
	// that cannot be read
	Unsearched int64 `json:"unsearched"`
}

// SharedFailure is tasks of any sweep that failed alike.
type SharedFailure struct {
	Count  int64      `json:"count"`
	Class  task.Class `json:"class"`
	Reason string     `json:"reason"` // as in FailureGroup
	// those that have such tasks, the newest first
	Sweeps     []FailureCount `json:"sweeps"`
	MoreSweeps int64          `json:"more_sweeps"` // further ones
	Hosts      []string       `json:"hosts"`       // where they ran last
	MoreHosts  bool           `json:"more_hosts"`  // there are further ones
	// when the first and the last of them failed, UTC; null: not known
	First *time.Time `json:"first"`
	Last  *time.Time `json:"last"`
}

// FailureCount is how many tasks of a sweep failed alike.
type FailureCount struct {
	Sweep string `json:"sweep"`
	Count int64  `json:"count"`
	Task  string `json:"task"` // the first of them
}

// AllFailures returns the tasks of all sweeps that failed, grouped by how: those of the last so many
// seconds, or with 0 at any time.
func (c *Client) AllFailures(ctx context.Context, within time.Duration) (f AllFailures, err error) {
	v := url.Values{}
	setNumber(v, "within", int(within/time.Second))
	return f, c.get(ctx, "/failures", v, &f)
}

// GroupAllFailures groups the failures of sweeps, which all yields sweep by sweep.
func GroupAllFailures(all func(yield func(failure.Failure)) error) (AllFailures, error) {
	grouped, err := failure.Groups(all)
	f := AllFailures{Groups: []SharedFailure{}, Others: grouped.Others}
	for _, g := range grouped.Groups {
		shown := SharedFailure{Count: g.Count, Class: task.Class(g.Class), Reason: g.Reason,
			MoreSweeps: g.MoreSweeps, Hosts: append([]string{}, g.Hosts...),
			MoreHosts: g.MoreHosts}
		for _, s := range g.Sweeps {
			shown.Sweeps = append(shown.Sweeps, FailureCount{s.Sweep, s.Count,
				task.ID{Sweep: s.Sweep, Index: s.Index}.String()})
		}
		if !g.Last.IsZero() {
			first, last := g.First.UTC(), g.Last.UTC()
			shown.First, shown.Last = &first, &last
		}
		f.Groups = append(f.Groups, shown)
	}
	return f, err
}
