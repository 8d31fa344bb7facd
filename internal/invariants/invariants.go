// Package invariants checks what is promised of sweeps against what the store says happened and
// what a test has seen beside it:
//
//  1. Every accepted task ends in exactly one terminal state.
//  2. It has exactly one counted result, from the newest attempt that was not superseded.
//  3. Starts are at most 1 plus the faults that justify another.
//  4. No submit that was confirmed to the user is lost.
//  5. No process of a finished or superseded attempt is alive on a reachable host.
//  6. The output of every attempt that ended is complete, or marked where it was cut.
//  7. What was cancelled stays cancelled.
//  8. An attempt has the GPUs that it needs, and a GPU is had once at a time, or in shares of it.
//
// It decides nothing and changes nothing: it reads a Source, from outside. Tests may import it.
package invariants

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// Evidence is what is known beside the store. The zero value knows nothing: then every sweep of the
// store is held to what the store alone can show.
type Evidence struct {
	Sweeps []string // ids of those to check; none: every one
	// sweeps whose submission was confirmed, and how many tasks they have
	Confirmed map[string]int64
	Starts    []Start // every start that happened; nil: not known
	Faults    []Fault
	Cancelled []Cancel
	Alive     []Start // attempts of which a process lived when all should have ended
	// Output gives how many bytes of what an attempt printed are kept. It is asked about attempts
	// that a worker ended, superseded ones left out. Nil: not known.
	Output func(id task.ID, t core.Attempt) (stdout, stderr int64, err error)
}

// Start is a start of a program, as the program itself wrote it down.
type Start struct {
	Task    task.ID
	Attempt int
	Worker  string
	PID     int
	Time    time.Time
	GPUs    []string  // UUIDs of those that it has; nil: not known
	Share   float64   // what it has of each; 0: what its sweep needs
	Ended   time.Time // when it had these no longer; zero: not known
}

// Fault is what may have ended attempts, or an act of a person that does so: an attempt that its
// worker began before To may be followed by another that begins after From.
type Fault struct {
	Worker   string // "": every one
	Sweep    string // of which it ended attempts; "": of every one
	From, To time.Time
	What     string // for people
}

// Cancel is a cancellation that was confirmed. One that was taken back only explains why a task
// went on that had succeeded.
type Cancel struct {
	Sweep string
	Index int64 // Whole: the sweep
	At    time.Time
	// nothing of it starts after that; zero: not known, as with workers that cannot be reached
	Quiet time.Time
	Until time.Time // when it was taken back; zero: it was not
}

// Whole is the Index of a Cancel of a whole sweep.
const Whole = -1

// Violation is a promise that was not kept.
type Violation struct {
	Invariant int    // 1 to 8, see the package
	Subject   string // the sweep's id, or the task's
	Text      string
}

func (v Violation) String() string {
	return fmt.Sprintf("%d: %s %s", v.Invariant, v.Subject,
		v.Text)
}

// Check holds what was kept to what is promised. The sweeps that it checks should have ended: one
// that has not is a violation. Violations come in the order of submission and index. The error is
// one of reading.
func Check(ctx context.Context, from Source, e Evidence) ([]Violation, error) {
	sweeps, err := from.Sweeps(ctx)
	if err != nil {
		return nil, err
	}
	slices.Reverse(sweeps)
	c := newChecker(from, e)
	c.confirmed(sweeps)
	for _, s := range sweeps {
		if len(e.Sweeps) > 0 && !slices.Contains(e.Sweeps, s.Head.ID) {
			continue
		}
		if err := c.sweep(ctx, s); err != nil {
			return nil, fmt.Errorf("check %s: %w", s.Head.ID, err)
		}
	}
	c.strangers(sweeps)
	c.gpus(sweeps)
	c.alive()
	return c.found, nil
}

// checker collects violations.
type checker struct {
	from   Source
	e      Evidence
	starts map[task.ID][]Start // by attempt, those of one by time
	found  []Violation
}

func newChecker(from Source, e Evidence) *checker {
	c := &checker{from: from, e: e, starts: map[task.ID][]Start{}}
	for _, s := range e.Starts {
		c.starts[s.Task] = append(c.starts[s.Task], s)
	}
	for _, all := range c.starts {
		slices.SortStableFunc(all, func(a, b Start) int {
			return cmp.Or(cmp.Compare(a.Attempt, b.Attempt), a.Time.Compare(b.Time))
		})
	}
	return c
}

func (c *checker) report(invariant int, subject, format string, args ...any) {
	c.found = append(c.found, Violation{invariant, subject, fmt.Sprintf(format, args...)})
}

// confirmed looks for every sweep that somebody was told of.
func (c *checker) confirmed(sweeps []store.Sweep) {
	totals := map[string]int64{}
	for _, s := range sweeps {
		totals[s.Head.ID] = s.Head.Total
	}
	for _, id := range slices.Sorted(maps.Keys(c.e.Confirmed)) {
		if total, kept := totals[id]; !kept {
			c.report(4, id, "was confirmed and is not in the store")
		} else if want := c.e.Confirmed[id]; total != want {
			c.report(4, id, "was confirmed with %d tasks and has %d", want, total)
		}
	}
}

// strangers are starts of tasks that do not exist.
func (c *checker) strangers(sweeps []store.Sweep) {
	byID := map[string]store.Sweep{}
	for _, s := range sweeps {
		byID[s.Head.ID] = s
	}
	for _, id := range slices.SortedFunc(maps.Keys(c.starts), byTask) {
		s, have := byID[id.Sweep]
		n, ours := s.Record.Ranges.Ordinal(id.Index)
		if !have || !ours || n < 0 || n >= s.Head.Total {
			c.report(3, id.String(), "began %d times and is no task of the store",
				len(c.starts[id]))
		}
	}
}

func byTask(a, b task.ID) int {
	return cmp.Or(cmp.Compare(a.Sweep, b.Sweep), cmp.Compare(a.Index, b.Index))
}

func (c *checker) alive() {
	for _, a := range c.e.Alive {
		c.report(5, a.Task.String(), "has a process alive: pid %d of attempt %d on %s", a.PID,
			a.Attempt, a.Worker)
	}
}

// Error makes violations an error that shows the first 20 of them; nil when there is none.
func Error(all []Violation) error {
	if len(all) == 0 {
		return nil
	}
	const shown = 20
	var lines []string
	for _, v := range all[:min(len(all), shown)] {
		lines = append(lines, v.String())
	}
	return fmt.Errorf("%d violations of what is promised:\n%s", len(all), strings.Join(lines, "\n"))
}
