package master

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// active is a sweep that the loop works on.
type active struct {
	stored store.Sweep // Head is as it was read
	ledger *core.Ledger
	points *core.Points
	told   map[int64]string // what followers know of tasks that wait for a worker
	mean   time.Duration    // of an attempt, the newest weighing most; 0 before the first ended

	rewritten bool   // the record is not on disk as it is
	edition   string // of the values of its secrets; "": there are none

	pausedSince time.Time // as the vault has it; zero: it is not paused, or that was not noted yet
}

// Settle brings the store of a run that was killed up to date, as a master that is Alone does when it starts: nothing of the
// run is alive. Run is not called then.
func (m *Master) Settle(ctx context.Context) error { return m.begin(ctx) }

// begin takes up what an earlier master left.
func (m *Master) begin(ctx context.Context) error {
	workers, err := m.o.Store.Workers(ctx)
	if err != nil {
		return err
	}
	m.known(workers)
	if err := m.read(ctx); err != nil {
		return err
	}
	if err := m.openVault(); err != nil {
		return err
	}
	for _, a := range m.sweeps {
		for _, t := range a.ledger.Held("") {
			m.member(t.Try.Worker)
		}
	}
	if m.o.Alone {
		for _, a := range m.sweeps {
			a.ledger.Killed(m.o.Now())
		}
	}
	if err := m.commit(ctx); err != nil {
		return err
	}
	m.post.send()
	return nil
}

// read makes the ledgers of all sweeps that have tasks left, as they are on disk.
func (m *Master) read(ctx context.Context) error {
	unended, err := m.o.Store.Unended(ctx)
	if err != nil {
		return err
	}
	m.sweeps, m.turn = map[string]*active{}, nil
	for _, s := range unended {
		if _, err := m.activate(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// activate makes the ledger of a stored sweep.
func (m *Master) activate(ctx context.Context, s store.Sweep) (*active, error) {
	open, ahead, err := m.o.Store.Unfinished(ctx, s, s.Record.Ranges.At(s.Head.Issued))
	if err != nil {
		return nil, fmt.Errorf("read the tasks of %s: %w", s.Head.ID, err)
	}
	a := &active{stored: s, ledger: core.NewLedger(s.Record, s.Head, open, ahead), points: s.Record.Points()}
	m.edition(a)
	m.sweeps[s.Head.ID] = a
	m.turn = append(m.turn, s.Head.ID)
	m.rank()
	return a, nil
}

// sweep finds a sweep, also one that ended; "" is the newest.
func (m *Master) sweep(ctx context.Context, id string) (*active, error) {
	if a := m.sweeps[id]; a != nil {
		return a, nil
	}
	s, err := m.o.Store.Sweep(ctx, id)
	if err != nil {
		return nil, err
	}
	if a := m.sweeps[s.Head.ID]; a != nil {
		return a, nil
	}
	return m.activate(ctx, s)
}

// forget drops sweeps that have ended, and their secrets; they are read again when somebody asks something of them.
func (m *Master) forget() {
	for id, a := range m.sweeps {
		if !a.ledger.Head().Ended.IsZero() {
			m.dropSecrets(a)
			delete(m.sweeps, id)
			delete(m.environs, id)
			m.turn = slices.DeleteFunc(m.turn, func(t string) bool { return t == id })
		}
	}
}

// began notes in which image an attempt began.
func (a *active) began(e task.Event) {
	if e.Start == nil || e.Start.Image == "" {
		return
	}
	if r, changed := a.stored.Record.RanIn(e.Start.Image, e.Worker); changed {
		a.rewrite(r)
	}
}

// learn keeps the mean running time of a sweep's attempts, of those that had their time.
func (a *active) learn(o *task.Outcome) {
	if o != nil && o.Duration > 0 && o.Class != task.Stopped && o.Class != task.Loss {
		a.mean = cmp.Or(a.mean, o.Duration)
		a.mean += (o.Duration - a.mean) / 8
	}
}

// has tells whether an index is one of the sweep's.
func (a *active) has(index int64) bool {
	n, ok := a.stored.Record.Ranges.Ordinal(index)
	return ok && n >= 0 && n < a.stored.Head.Total
}

// clock counts the running time of the sweeps that are worked on.
func (m *Master) clock() {
	now := m.o.Now()
	for _, a := range m.sweeps {
		a.ledger.Clock(now)
	}
}
