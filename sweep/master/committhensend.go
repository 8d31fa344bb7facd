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
		// first: who awaits the end of a sweep may then await its notices
		m.sendNotices(effects.Changed[i].Head.ID, effects.Changed[i].Record)
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

// commit writes the rows of a step.
func (m *Master) commit(ctx context.Context, rows *core.Rows) error {
	begin := time.Now()
	if err := m.o.Store.Commit(ctx, rows); err != nil {
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
