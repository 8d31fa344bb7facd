package failure

import (
	"slices"
	"time"
)

// How many sweeps and hosts of a group are named at most.
const (
	mostSweeps = 20
	mostHosts  = 20
)

// Spread is where and when the failures of a group were.
type Spread struct {
	Sweeps      []SweepCount // in the order in which they came
	MoreSweeps  int64        // further ones
	Hosts       []string     // in the order in which they came
	MoreHosts   bool         // there are further ones
	First, Last time.Time    // zero: not known
}

// SweepCount is how many failures of a group are in a sweep.
type SweepCount struct {
	Sweep string
	Count int64
	Index int64 // of the first of these tasks
}

// spread notes where and when a failure of a group was.
func (g *member) spread(f *Failure) {
	if f.Sweep == "" {
		return
	}
	switch {
	case f.Sweep != g.sweep && len(g.Sweeps) == mostSweeps:
		g.MoreSweeps++
	case f.Sweep != g.sweep:
		g.Sweeps = append(g.Sweeps, SweepCount{f.Sweep, 1, f.Index})
	case g.MoreSweeps == 0:
		g.Sweeps[len(g.Sweeps)-1].Count++
	}
	g.sweep = f.Sweep
	if f.Host != "" && !slices.Contains(g.Hosts, f.Host) {
		if len(g.Hosts) < mostHosts {
			g.Hosts = append(g.Hosts, f.Host)
		} else {
			g.MoreHosts = true
		}
	}
	if f.Time.IsZero() {
		return
	}
	if g.First.IsZero() || f.Time.Before(g.First) {
		g.First = f.Time
	}
	if f.Time.After(g.Last) {
		g.Last = f.Time
	}
}
