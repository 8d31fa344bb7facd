package master

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// apply takes one step: ledgers decide, the store keeps, and only then is anybody told. A step that has begun is taken
// to its end.
func (m *Master) apply(ctx context.Context, s *step) error {
	whole := context.WithoutCancel(ctx)
	if len(s.events) > 0 {
		m.tally.lag = 0
	}
	m.clock()
	before := m.remember()
	answer, err := m.decide(whole, s)
	if err == nil {
		answer, err = m.arrange(ctx, s, before, answer)
	}
	if err == nil {
		err = m.commit(whole, append(m.deed(s.call, answer), m.entries...)...)
		m.entries = nil
	}
	if s.call != nil && s.call.deed != nil {
		s.call.deed.Kept = err == nil
	}
	if s.call != nil {
		s.call.done <- cmp.Or(err, answer)
	}
	if err != nil {
		return err
	}
	for _, ack := range s.acks {
		if err := ack(); err != nil && ctx.Err() == nil { // at the end the queue goes first
			m.o.Log.Warn("events not acknowledged; they come again", "error", err)
		}
	}
	for _, worker := range s.joined {
		m.greet(worker)
	}
	m.post.send()
	m.forget()
	return nil
}

// arrange looks after the workers and places tasks. Where that makes this program panic, the step is decided anew without:
// what was to be placed waits, and whoever called is told.
func (m *Master) arrange(ctx context.Context, s *step, before memory, answer error) (error, error) {
	fault := m.guard("placement", func() error {
		m.look(ctx)
		m.place()
		return nil
	})
	if fault == nil {
		return answer, nil
	}
	whole := context.WithoutCancel(ctx)
	if err := m.back(whole, before); err != nil {
		return answer, err
	}
	again := *s
	again.call = nil
	_, err := m.decide(whole, &again)
	return cmp.Or(answer, fault), err
}

// decide gives the ledgers what came in. An event or call that makes this program panic is left out: what is not on
// disk is thrown away, and the rest of the step is decided anew.
func (m *Master) decide(ctx context.Context, s *step) (answer, err error) {
	before := m.remember()
	for n := 0; n < len(s.events); n++ {
		err := m.guard("event", func() error { return m.event(ctx, s.events[n]) })
		if _, panicked := errors.AsType[*fault](err); !panicked && err != nil {
			return nil, err
		} else if panicked {
			s.events = slices.Delete(s.events, n, n+1)
			n = -1
			if err := m.back(ctx, before); err != nil {
				return nil, err
			}
		}
	}
	if s.call == nil {
		return nil, nil
	}
	answer = m.guard("call", func() error { return s.call.do(ctx) })
	if _, panicked := errors.AsType[*fault](answer); !panicked {
		return answer, nil
	}
	if err := m.back(ctx, before); err != nil {
		return answer, err
	}
	again := *s
	again.call = nil
	_, err = m.decide(ctx, &again)
	return answer, err
}

// memory is what a step may have changed beside the ledgers.
type memory struct {
	workers map[string]member
	draft   int // letters
	entries int // of the audit
}

func (m *Master) remember() memory {
	r := memory{map[string]member{}, len(m.post.draft), len(m.entries)}
	for name, w := range m.workers {
		r.workers[name] = *w
	}
	return r
}

// back undoes what was decided since: ledgers are read anew, as they are on disk.
func (m *Master) back(ctx context.Context, to memory) error {
	m.post.draft, m.entries = m.post.draft[:to.draft], m.entries[:to.entries]
	m.workers = map[string]*member{}
	for name, w := range to.workers {
		m.workers[name] = &w
	}
	return m.read(ctx)
}

// fault is a panic of this program.
type fault struct{ value any }

func (f *fault) Error() string { return fmt.Sprintf("fault in the master: %v", f.value) }

// guard makes a panic of f an error.
func (m *Master) guard(what string, f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &fault{value}
			m.o.Log.Error("fault in the master; it goes on without what caused it", "in", what, "fault", value, "stack", string(debug.Stack()))
		}
	}()
	return f()
}

// event gives an event to its sweep's ledger. One of a sweep that is not known is dropped.
func (m *Master) event(ctx context.Context, e task.Event) error {
	if e.Version > task.Newest {
		m.unread(e)
		return nil
	}
	switch {
	case e.Kind == task.JoinedEvent && e.Beat != nil:
		m.join(*e.Beat)
		return nil
	case e.Kind == task.LeftEvent && e.Beat != nil:
		m.leave(*e.Beat)
		return nil
	}
	var a *active
	var err error = &store.UnknownSweep{} // a name that is empty means the newest to people only
	if e.Sweep != "" {
		a, err = m.sweep(ctx, e.Sweep)
	}
	if _, unknown := errors.AsType[*store.UnknownSweep](err); unknown {
		m.o.Log.Warn("event of an unknown sweep dropped", "worker", e.Worker, "sweep", e.Sweep)
		if e.Sweep != "" {
			m.missing.note(e.Sweep, e.Worker, e.Index, false, m.o.Now())
		}
		return nil
	}
	if err != nil {
		return err
	}
	now := m.o.Now()
	if !m.o.Alone && a.ledger.Ahead(e) {
		m.missing.note(e.Sweep, e.Worker, e.Index, true, now)
	}
	w := m.workers[e.Worker]
	if w != nil {
		w.hears(e, now)
		m.tally.heard(w, e, now)
	}
	if own, err := m.own(ctx, a, e); err != nil || !own {
		return err
	}
	if w != nil {
		w.leaves(e, now)
	}
	if w != nil && w.unfit(e) {
		a.ledger.Excuse(e, now)
	} else {
		a.ledger.Event(e, now)
	}
	a.began(e)
	a.learn(e.Outcome)
	if e.Kind == task.EndedEvent && e.Outcome != nil {
		m.judge(e.Worker, e.Outcome)
	}
	return nil
}

// commit writes what the ledgers changed, and what people did, as one group, tells the watchers, and puts control messages in the post.
func (m *Master) commit(ctx context.Context, deeds ...store.Deed) error {
	var groups []store.Group
	for _, a := range m.sweeps {
		if c := a.ledger.Take(); !c.Empty() || a.rewritten {
			groups = append(groups, store.Group{Sweep: a.stored, Changes: c, Rewrite: a.rewritten})
		}
	}
	sweeps := len(groups)
	if w := m.changedWorkers(); len(w) > 0 {
		groups = append(groups, store.Group{Workers: w})
	}
	if len(deeds) > 0 {
		groups = append(groups, store.Group{Deeds: deeds})
	}
	if len(groups) == 0 {
		return nil
	}
	begin := time.Now()
	if err := m.o.Store.Commit(ctx, groups...); err != nil {
		return fmt.Errorf("write the store: %w", err)
	}
	m.tally.took(time.Since(begin))
	for _, g := range groups[:sweeps] {
		m.tally.ended(g.Changes)
		a := m.sweeps[g.Sweep.Head.ID]
		if g.Rewrite {
			m.watch.rewritten(g.Sweep.Head.ID, g.Sweep.Record)
			a.rewritten = false
		}
		again := g.Rewrite || m.watch.changesBest(g.Sweep.Head.ID, g.Changes.Tasks)
		m.senders.changed(g.Sweep.Head.ID, g.Changes.Tasks)
		m.watch.changed(a.stored.Record, a.ledger.Head(), g.Changes.Tasks)
		if again {
			best, err := m.best(ctx, a)
			if err != nil {
				return err
			}
			m.watch.ranked(g.Sweep.Head.ID, best)
		}
		for _, o := range g.Changes.Controls {
			m.post.tell(o.Worker, o.Control)
		}
	}
	return nil
}

// changedWorkers are those that are not on disk as they are.
func (m *Master) changedWorkers() (all []store.Worker) {
	for _, w := range m.workers {
		if w.changed {
			all, w.changed = append(all, w.kept), false
		}
	}
	return all
}
