// Commit, then send: the rows of a step are on disk before its messages go to workers, before its
// caller gets an answer and before followers are notified.

package master

import (
	"context"
	"fmt"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
)

// commitThenSend commits what a step decided, and does what follows.
func (m *Master) commitThenSend(ctx context.Context, out core.Output, events bool) (core.Effects,
	error) {
	m.metrics.step(&out, events)
	m.supplied = out.Supplied
	effects, err := out.Commit(func(rows *core.Rows) error { return m.commit(ctx, rows) })
	if err != nil {
		return effects, err
	}
	for i := range effects.Changed {
		if err := m.notify(ctx, &effects.Changed[i]); err != nil {
			return effects, err
		}
	}
	for _, w := range effects.Blocked {
		m.watch.changed(*w.Record, w.Head, w.Changes.Tasks)
	}
	m.changeVault(effects.Vault)
	m.outbox.send(m.sealed(effects.Messages))
	return effects, nil
}

// commit writes the rows of a step as one group.
func (m *Master) commit(ctx context.Context, rows *core.Rows) error {
	begin := time.Now()
	var groups []store.Group
	for i := range rows.Sweeps {
		r := &rows.Sweeps[i]
		s := store.Sweep{Seq: r.Seq, Definition: r.Record.Recipe.Definition, Record: *r.Record,
			Head: r.Head}
		if r.Revised {
			if err := m.o.Store.Revise(ctx, s, r.Code, r.Ranked); err != nil {
				return fmt.Errorf("move %s to revision %s: %w", r.Head.ID, r.Record.Recipe.Revision,
					err)
			}
		}
		groups = append(groups, store.Group{Sweep: s, Changes: r.Changes, Rewrite: r.Rewrite})
	}
	for _, name := range rows.Gone {
		if err := m.o.Store.Forget(ctx, name); err != nil {
			return fmt.Errorf("forget worker %s: %w", name, err)
		}
	}
	if err := m.hold(rows.Held); err != nil {
		return err
	}
	groups = append(groups, store.Group{Workers: rows.Workers, Audit: rows.Audit})
	if err := m.o.Store.Commit(ctx, groups...); err != nil {
		return fmt.Errorf("write the store: %w", err)
	}
	m.metrics.commit(rows, time.Since(begin))
	m.senders.register(rows.Workers...)
	for _, name := range rows.Gone {
		m.senders.forget(name)
	}
	return nil
}

// notify tells watchers what changed about a sweep.
func (m *Master) notify(ctx context.Context, r *core.SweepRows) error {
	id := r.Head.ID
	if r.Rewrite {
		m.watch.rewritten(id, *r.Record)
	}
	m.senders.changed(id, r.Changes.Tasks)
	again := r.Rewrite || m.watch.changesBest(id, r.Changes.Tasks)
	m.watch.changed(*r.Record, r.Head, r.Changes.Tasks)
	if !again {
		return nil
	}
	best, err := m.best(ctx, store.Sweep{Seq: r.Seq, Record: *r.Record, Head: r.Head})
	if err == nil {
		m.watch.ranked(id, best)
	}
	return err
}
