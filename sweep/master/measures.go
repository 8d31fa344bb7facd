package master

import (
	"context"
	"slices"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// Measures is what a master has counted since it started, and how it stands.
type Measures struct {
	Workers   []Measured
	Attempts  map[task.Class]Durations // that ended and counted, by how
	Events    int64                    // of workers that were processed
	Refused   int64                    // events and lines of attempts that their worker never had
	Lag       time.Duration            // how old the oldest event of the last group was that had any, by the clocks' difference that heartbeats show
	Commits   int64                    // of the store
	Committed time.Duration            // that they took together
	Demand    core.Demand
	Outgoing  int // batches and messages to workers that the queue has not taken
}

// Measured is a worker, and what its last heartbeat said beside that.
type Measured struct {
	core.Worker
	Unsent int // events that it could not send yet
}

// Durations is how long attempts ran. An attempt whose duration is not known counts as 0.
type Durations struct {
	Counts [len(durationBounds) + 1]uint64 // by bound, and those beyond the last
	Sum    time.Duration
}

// durationBounds are upper bounds, in seconds: attempts take milliseconds or days.
var durationBounds = [...]float64{0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 1800, 3600, 4 * 3600, 12 * 3600, 24 * 3600, 7 * 24 * 3600}

// DurationBounds are the upper bounds of Durations.Counts, in seconds.
func DurationBounds() []float64 { return durationBounds[:] }

func (d *Durations) add(took time.Duration) {
	n, _ := slices.BinarySearch(durationBounds[:], took.Seconds())
	d.Counts[n]++
	d.Sum += took
}

// tally is what the loop counts. The zero value is ready.
type tally struct {
	attempts  map[task.Class]*Durations
	events    int64
	refused   int64
	lag       time.Duration
	commits   int64
	committed time.Duration
}

// step counts what a step took in.
func (t *tally) step(out *core.Output, events bool) {
	if events {
		t.lag = out.Lag
	}
	t.events += int64(out.Events)
	t.refused += int64(out.Refused)
}

// commit counts a commit, and the attempts that it ends.
func (t *tally) commit(rows *core.Rows, took time.Duration) {
	t.commits++
	t.committed += took
	for i := range rows.Sweeps {
		t.ended(&rows.Sweeps[i].Changes)
	}
}

// ended counts the attempts that a group of changes ends.
func (t *tally) ended(c *core.Changes) {
	for i := range c.Tasks {
		if c.Tasks[i].State.Terminal() {
			t.end(c.Tasks[i].Try.Outcome)
		}
	}
	for i := range c.Tries {
		if !c.Tries[i].Try.Superseded {
			t.end(c.Tries[i].Try.Outcome)
		}
	}
}

func (t *tally) end(o *task.Outcome) {
	if o == nil {
		return
	}
	d := t.attempts[o.Class]
	if d == nil {
		d = &Durations{}
		if t.attempts == nil {
			t.attempts = map[task.Class]*Durations{}
		}
		t.attempts[o.Class] = d
	}
	d.add(o.Duration)
}

// Measure tells what was counted. It costs the loop a look at its workers.
func (m *Master) Measure(ctx context.Context) (all Measures, err error) {
	err = m.query(ctx, func(context.Context) error {
		t := &m.tally
		all = Measures{Attempts: map[task.Class]Durations{}, Events: t.events, Refused: t.refused + m.senders.refused.Load(),
			Lag: t.lag, Commits: t.commits, Committed: t.committed, Outgoing: m.outbox.waiting(),
			Demand: m.core.Demand(m.o.Now())}
		for class, d := range t.attempts {
			all.Attempts[class] = *d
		}
		for _, w := range m.core.Workers() {
			all.Workers = append(all.Workers, Measured{w, m.core.Beat(w.Name).Unsent})
		}
		return nil
	})
	return all, err
}
