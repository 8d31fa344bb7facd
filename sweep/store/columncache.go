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

// columnCache caches the columns that queries scan in all tasks of a sweep: no index of the store
// has host, reason, duration or metrics, as it would cost every task's write. Commit updates it. It
// is safe for concurrent use.
type columnCache struct {
	maxBytes int64 // bytes in all
	minTasks int   // a question that looks at fewer tasks reads them from the store

	mu     sync.Mutex
	sweeps []*sweepColumns // the one used last is the last
}

const (
	columnCacheBytes    = 32 << 20
	columnCacheMinTasks = 2048
)

// cacheable returns the columns that a query scans; false where one of them is not cached.
func (q TaskQuery) cacheable() (all []*cachedColumn, ok bool) {
	if q.Fields == 0 || q.Frames || q.Limit > 0 || q.Best != 0 || q.Indexes != nil {
		return nil, false
	}
	left := q.Fields &^ table.FieldState
	for i := range columnKinds {
		if k := &columnKinds[i]; left.Has(k.field) {
			all, left = append(all, &cachedColumn{columnKind: k}), left&^k.field
		}
	}
	if left.Has(table.FieldMetrics) && q.Metrics != nil {
		left &^= table.FieldMetrics
		names := slices.Compact(slices.Sorted(slices.Values(q.Metrics)))
		for _, name := range names {
			all = append(all, &cachedColumn{columnKind: &metricKind, metric: name,
				stored: metric.StoredMetric(name)})
		}
	}
	return all, left == 0
}

// fits reports whether so many columns of a sweep have room, and its indexes room for a state.
func (r *columnCache) fits(s Sweep, columns int) bool {
	return s.Rows()*rowBytes(columns) <= r.maxBytes &&
		s.Record.Ranges.At(s.Head.Total) < 1<<(63-stateBits)
}

// Rows returns how many tasks of a sweep have rows.
func (s Sweep) Rows() (n int64) {
	for _, some := range s.Head.Rows {
		n += some
	}
	return n
}

// find returns the columns of a sweep; nil when it has none.
func (r *columnCache) find(seq int64) *sweepColumns {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.IndexFunc(r.sweeps, func(c *sweepColumns) bool { return c.seq == seq }); i >= 0 {
		return r.sweeps[i]
	}
	return nil
}

// use returns the columns of a sweep and makes it the most recently used.
func (r *columnCache) use(seq int64) *sweepColumns {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &sweepColumns{seq: seq, numbers: map[string]int64{}}
	if i := slices.IndexFunc(r.sweeps, func(c *sweepColumns) bool { return c.seq == seq }); i >= 0 {
		c = r.sweeps[i]
		r.sweeps = slices.Delete(r.sweeps, i, i+1)
	}
	r.sweeps = append(r.sweeps, c)
	return c
}

// evict drops the least recently used sweeps until the others fit in maxBytes.
func (r *columnCache) evict() {
	r.mu.Lock()
	defer r.mu.Unlock()
	total := int64(0)
	for i, c := range slices.Backward(r.sweeps) {
		if total += c.bytes.Load(); total > r.maxBytes {
			r.sweeps = slices.Delete(r.sweeps, 0, i+1)
			return
		}
	}
}

// update adds committed tasks of a sweep.
func (r *columnCache) update(seq int64, tasks []core.Task) {
	c := r.find(seq)
	if c == nil {
		return
	}
	c.pendingMu.Lock()
	c.pending = append(c.pending, tasks...)
	c.pendingMu.Unlock()
	if c.mu.TryLock() { // a reader that has them is not waited for: the next one applies it
		c.applyPending()
		c.mu.Unlock()
	}
	r.evict()
}

// scanCached is Scan for queries whose columns are cacheable.
func (r *Reader) scanCached(ctx context.Context, s Sweep, q TaskQuery, requested []*cachedColumn,
	each func(*core.Task) bool) error {
	if !r.columns.has(s.Seq, requested) {
		if q.isSelective(s) {
			return r.read(ctx, s, q, each)
		}
		first, visited, stopped := q, 0, false
		first.Limit = r.columns.minTasks
		err := r.read(ctx, s, first, func(t *core.Task) bool {
			visited++
			q.From = t.Index + 1
			stopped = !each(t)
			return !stopped
		})
		if err != nil || stopped || visited < r.columns.minTasks {
			return err
		}
	}
	err := errEvicted
	for attempts := 0; attempts < 3 && errors.Is(err, errEvicted); attempts++ {
		err = r.columns.use(s.Seq).ask(ctx, r, s, q, requested, each)
	}
	r.columns.evict()
	if errors.Is(err, errNoRoom) || errors.Is(err, errEvicted) {
		return r.read(ctx, s, q, each)
	}
	return err
}

// isSelective reports whether a query looks at few of a sweep's tasks, which an index of the store
// has.
func (q TaskQuery) isSelective(s Sweep) bool {
	some := int64(0)
	for state, n := range s.Head.Rows {
		if slices.Contains(q.States, task.State(state)) {
			some += n
		}
	}
	const part = 8
	return len(q.States) > 0 && some < s.Rows()/part && !slices.Contains(q.States, task.Succeeded)
}

func (r *columnCache) has(seq int64, requested []*cachedColumn) bool {
	c := r.find(seq)
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.has(requested)
	return ok
}

// errEvicted says that columns were evicted while a query waited for them: they lack what was
// committed since.
var errEvicted = errors.New("the columns were evicted")

// ask calls each with tasks, as [Reader.Scan] does.
func (c *sweepColumns) ask(ctx context.Context, r *Reader, s Sweep, q TaskQuery,
	requested []*cachedColumn,
	each func(*core.Task) bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.columns.find(s.Seq) != c {
		return errEvicted
	}
	c.applyPending()
	kept, ok := c.has(requested)
	if !ok {
		if err := c.fill(ctx, r, s, requested); err != nil {
			return err
		}
		c.applyPending() // what was read may be newer than what was known before
		kept, _ = c.has(requested)
	}
	return c.scan(ctx, q, kept, each)
}
