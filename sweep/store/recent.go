package store

import (
	"context"
	"errors"
	"slices"
	"sync"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// recent holds in memory what questions looked at in all tasks of a sweep, so that the next ones
// read nothing of the store: no index has host, reason, duration or metrics, as it would cost every
// task's write. Commit brings it up to date. Safe for concurrent use.
type recent struct {
	most  int64 // bytes in all
	least int   // a question that looks at fewer tasks reads them from the store

	mu     sync.Mutex
	sweeps []*columns // the one used last is the last
}

const (
	recentBytes = 32 << 20
	recentTasks = 2048
)

// wanted are the columns that a query looks at; false where they are not of those that are kept.
func (q Query) wanted() (all []*keptColumn, ok bool) {
	if q.Fields == 0 || q.Limit > 0 || q.Best != 0 || q.Indexes != nil {
		return nil, false
	}
	left := q.Fields &^ table.FieldState
	for i := range columnKinds {
		if k := &columnKinds[i]; left.Has(k.field) {
			all, left = append(all, &keptColumn{columnKind: k}), left&^k.field
		}
	}
	if left.Has(table.FieldMetrics) && q.Metrics != nil {
		left &^= table.FieldMetrics
		names := slices.Compact(slices.Sorted(slices.Values(q.Metrics)))
		for _, name := range names {
			all = append(all, &keptColumn{columnKind: &metricKind, metric: name,
				stored: metric.StoredMetric(name)})
		}
	}
	return all, left == 0
}

// mayKeep reports whether so many columns of a sweep have room, and its indexes room for a state.
func (r *recent) mayKeep(s Sweep, columns int) bool {
	return s.rows()*rowBytes(columns) <= r.most && s.Record.Ranges.At(s.Head.Total) < 1<<(63-stateBits)
}

// rows is how many tasks of a sweep have rows.
func (s Sweep) rows() (n int64) {
	for _, some := range s.Head.Rows {
		n += some
	}
	return n
}

// find returns the columns of a sweep; nil when it has none.
func (r *recent) find(seq int64) *columns {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.IndexFunc(r.sweeps, func(c *columns) bool { return c.seq == seq }); i >= 0 {
		return r.sweeps[i]
	}
	return nil
}

// use returns the columns of a sweep, which is the one used last from then on.
func (r *recent) use(seq int64) *columns {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &columns{seq: seq, numbers: map[string]int64{}}
	if i := slices.IndexFunc(r.sweeps, func(c *columns) bool { return c.seq == seq }); i >= 0 {
		c = r.sweeps[i]
		r.sweeps = slices.Delete(r.sweeps, i, i+1)
	}
	r.sweeps = append(r.sweeps, c)
	return c
}

// shrink forgets the sweeps that were not used for longest until the others have room.
func (r *recent) shrink() {
	r.mu.Lock()
	defer r.mu.Unlock()
	total := int64(0)
	for i, c := range slices.Backward(r.sweeps) {
		if total += c.bytes.Load(); total > r.most {
			r.sweeps = slices.Delete(r.sweeps, 0, i+1)
			return
		}
	}
}

// update takes in what was committed about a sweep.
func (r *recent) update(seq int64, tasks []core.Task) {
	c := r.find(seq)
	if c == nil {
		return
	}
	c.waits.Lock()
	c.waiting = append(c.waiting, tasks...)
	c.waits.Unlock()
	if c.mu.TryLock() { // whoever reads them now is not waited for: the next takes it in
		c.settle()
		c.mu.Unlock()
	}
	r.shrink()
}

// scanRecent is Scan for what all tasks of a sweep are looked at for.
func (r *Reader) scanRecent(ctx context.Context, s Sweep, q Query, wanted []*keptColumn, each func(*core.Task) bool) error {
	if !r.recent.has(s.Seq, wanted) {
		if q.fewOf(s) {
			return r.read(ctx, s, q, each)
		}
		first, visited, stopped := q, 0, false
		first.Limit = r.recent.least
		err := r.read(ctx, s, first, func(t *core.Task) bool {
			visited++
			q.From = t.Index + 1
			stopped = !each(t)
			return !stopped
		})
		if err != nil || stopped || visited < r.recent.least {
			return err
		}
	}
	err := errForgotten
	for tries := 0; tries < 3 && errors.Is(err, errForgotten); tries++ {
		err = r.recent.use(s.Seq).ask(ctx, r, s, q, wanted, each)
	}
	r.recent.shrink()
	if errors.Is(err, errNoRoom) || errors.Is(err, errForgotten) {
		return r.read(ctx, s, q, each)
	}
	return err
}

// fewOf reports whether a query looks at few of a sweep's tasks, which an index of the store has.
func (q Query) fewOf(s Sweep) bool {
	some := int64(0)
	for state, n := range s.Head.Rows {
		if slices.Contains(q.States, task.State(state)) {
			some += n
		}
	}
	const part = 8
	return len(q.States) > 0 && some < s.rows()/part && !slices.Contains(q.States, task.Succeeded)
}

func (r *recent) has(seq int64, wanted []*keptColumn) bool {
	c := r.find(seq)
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.has(wanted)
	return ok
}

// errForgotten tells that columns were forgotten while a question waited for them: what was committed
// since is not in them.
var errForgotten = errors.New("the columns were forgotten")

// ask calls each with tasks, as [Reader.Scan] does.
func (c *columns) ask(ctx context.Context, r *Reader, s Sweep, q Query, wanted []*keptColumn, each func(*core.Task) bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.recent.find(s.Seq) != c {
		return errForgotten
	}
	c.settle()
	kept, ok := c.has(wanted)
	if !ok {
		if err := c.fill(ctx, r, s, wanted); err != nil {
			return err
		}
		c.settle() // what was read may be newer than what was known before
		kept, _ = c.has(wanted)
	}
	return c.scan(ctx, q, kept, each)
}
