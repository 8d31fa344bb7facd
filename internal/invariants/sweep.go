package invariants

import (
	"context"
	"slices"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// sweep checks one sweep: its head, every task that it has, and that it has no other.
func (c *checker) sweep(ctx context.Context, s store.Sweep) error {
	h := s.Head
	if h.Ended.IsZero() || h.State != core.Finished && h.State != core.Cancelled {
		c.report(1, h.ID, "has not ended: it is %s, with %v", h.State, h.Counts())
	}
	var counts core.Counts
	next := int64(0) // the first task whose row has not come yet
	for row, err := range c.from.Tasks(ctx, s, store.TaskQuery{}) {
		if err != nil {
			return err
		}
		n, ours := s.Record.Ranges.Ordinal(row.Index)
		if !ours || n < 0 || n >= h.Total {
			c.report(1, name(s, row.Index), "has a row and is no task of the sweep")
			continue
		}
		c.rowless(s, next, n)
		next = n + 1
		counts[row.State]++
		attempts, err := c.from.EarlierAttempts(ctx, s, row.Index)
		if err != nil {
			return err
		}
		c.task(s, row, attempts)
	}
	c.rowless(s, next, h.Total)
	if counts != h.Rows {
		c.report(1, h.ID, "counts %v tasks by state, and has %v", h.Rows, counts)
	}
	for _, cancel := range c.e.Cancelled {
		if cancel.Sweep == h.ID && cancel.Index == Whole && cancel.Until.IsZero() &&
			h.State != core.Cancelled {
			c.report(7, h.ID, "was cancelled and is %s", h.State)
		}
	}
	return nil
}

// rowless checks the tasks from, ..., to-1 of a sweep, which have no row: they are cancelled with
// the sweep or have not ended, and none of them began.
func (c *checker) rowless(s store.Sweep, from, to int64) {
	for n := from; n < to; n++ {
		index := s.Record.Ranges.At(n)
		switch {
		case n < s.Head.Issued:
			c.report(1, name(s, index), "was handed out and has no row")
		case !s.Head.UnissuedCancelled:
			c.report(1, name(s, index), "has not ended: it was never handed out")
		}
		if starts := c.starts[task.ID{Sweep: s.Head.ID, Index: index}]; len(starts) > 0 {
			c.report(2, name(s, index), "began %d times and was never handed out", len(starts))
		}
	}
}

// task checks one task and its attempts.
func (c *checker) task(s store.Sweep, row core.Task, attempts []core.Attempt) {
	id := task.ID{Sweep: s.Head.ID, Index: row.Index}
	if !row.State.Terminal() {
		c.report(1, id.String(), "has not ended: it is %v, attempt %d on %q", row.State,
			row.Attempt.Number, row.Attempt.Worker)
	}
	rules, charged := s.Record.Retry, row.Charged
	if charged.Error > rules.Error || charged.Timeout > rules.Timeout || charged.OOM > rules.OOM ||
		charged.Lost > rules.Lost {
		c.report(3, id.String(), "was forgiven %+v, and the rules are %+v", charged, rules)
	}
	counted := slices.DeleteFunc(slices.Clone(attempts), func(t core.Attempt) bool {
		return t.Superseded
	})
	c.result(id, row, attempts)
	c.begun(id, row, counted)
	c.justified(id, attempts)
	c.newest(id, row)
	c.output(id, row, counted)
	for _, cancel := range c.e.Cancelled {
		if cancel.Sweep == id.Sweep && (cancel.Index == Whole || cancel.Index == id.Index) {
			c.cancelled(id, row, cancel)
		}
	}
}

func name(s store.Sweep, index int64) string {
	return task.ID{Sweep: s.Head.ID, Index: index}.String()
}
