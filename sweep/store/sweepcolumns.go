package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// sweepColumns are some of the columns of a sweep's tasks.
type sweepColumns struct {
	seq   int64
	bytes atomic.Int64

	pendingMu sync.Mutex
	pending   []core.Task // committed and not in the columns yet

	mu      sync.Mutex // protects what follows, also while it is read
	index   []int64    // of the tasks, ascending
	state   []uint8
	cached  []*cachedColumn
	texts   []string // that columns of text refer to
	numbers map[string]int64
	length  int64 // of texts, in bytes
	filled  bool  // with every task
}

// cachedColumn has for each task a number, the number of a text, or the bits of a metric's value.
type cachedColumn struct {
	*columnKind
	metric string
	stored func(text string) (value float64, ok bool) // reads the metric
	values []int64
}

// absent is what a column has for NULL: the bits of one of the many values that are not a number.
const absent = math.MaxInt64

// has reports whether all of some columns are kept, and returns them.
func (c *sweepColumns) has(requested []*cachedColumn) (all []*cachedColumn, ok bool) {
	for _, w := range requested {
		i := slices.IndexFunc(c.cached, w.same)
		if i < 0 {
			return nil, false
		}
		all = append(all, c.cached[i])
	}
	return all, c.filled
}

func (k *cachedColumn) same(other *cachedColumn) bool {
	return k.columnKind == other.columnKind && k.metric == other.metric
}

// applyPending takes in what was committed.
func (c *sweepColumns) applyPending() {
	c.pendingMu.Lock()
	waiting := c.pending
	c.pending = nil
	c.pendingMu.Unlock()
	if !c.filled || len(waiting) == 0 {
		return
	}
	for i := range waiting {
		t := &waiting[i]
		at := c.rowOf(t.Index)
		c.state[at] = uint8(t.State)
		for _, k := range c.cached {
			k.values[at] = c.value(k, t)
		}
	}
	c.count()
}

// rowOf returns the row of a task, which may be new.
func (c *sweepColumns) rowOf(index int64) int {
	at, known := slices.BinarySearch(c.index, index)
	if !known {
		c.index, c.state = slices.Insert(c.index, at, index), slices.Insert(c.state, at, 0)
		for _, k := range c.cached {
			k.values = slices.Insert(k.values, at, absent)
		}
	}
	return at
}

func (c *sweepColumns) count() { c.bytes.Store(c.size(int64(len(c.index)), len(c.cached))) }

// size estimates the bytes that so many columns of so many tasks take, with the texts.
func (c *sweepColumns) size(tasks int64, columns int) int64 {
	return tasks*rowBytes(columns) + c.length
}

// rowBytes returns what a task takes in so many columns, beside its texts.
func rowBytes(columns int) int64 { return int64(9 + 8*columns) }

func (c *sweepColumns) value(k *cachedColumn, t *core.Task) int64 {
	if k.columnKind != &metricKind {
		return c.number(k.of(t))
	}
	if v, ok := t.Attempt.Metrics().Get(k.metric); ok {
		return metricBits(v)
	}
	return absent
}

// number returns what stands for a value of a column.
func (c *sweepColumns) number(value any) int64 {
	switch v := value.(type) {
	case int64:
		return v
	case string:
		n, known := c.numbers[v]
		if !known {
			const entry = 64 // about what a text costs beside its bytes
			n = int64(len(c.texts))
			c.texts, c.numbers[v] = append(c.texts, v), n
			c.length += int64(len(v)) + entry
		}
		return n
	}
	return absent
}

func metricBits(v float64) int64 {
	if math.IsNaN(v) {
		v = math.NaN() // not the one that is absent
	}
	return int64(math.Float64bits(v))
}

// scan calls each with tasks, as [Reader.Scan] does.
func (c *sweepColumns) scan(ctx context.Context, q TaskQuery, requested []*cachedColumn,
	each func(*core.Task) bool) error {
	var t core.Task
	var m rowBuffer
	var states uint64
	for _, s := range q.States {
		states |= 1 << s
	}
	from, _ := slices.BinarySearch(c.index, q.From)
	for at := from; at < len(c.index); at++ {
		if at%cancelEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if states != 0 && states&(1<<c.state[at]) == 0 {
			continue
		}
		t, m = core.Task{Index: c.index[at], State: task.State(c.state[at])},
			rowBuffer{metrics: m.metrics[:0]}
		for _, k := range requested {
			switch n := k.values[at]; {
			case n == absent:
			case k.columnKind == &metricKind:
				m.metrics = append(m.metrics, metric.FinalValue{Name: k.metric,
					Value: math.Float64frombits(uint64(n))})
				m.ended(&t).Metrics = m.metrics
			default:
				k.set(&t, &m, n, c)
			}
		}
		if !each(&t) {
			return nil
		}
	}
	return nil
}

// errNoRoom says that the columns of a query do not fit in memory.
var errNoRoom = errors.New("the columns and their texts do not fit in memory")

// stateBits is room for a task's state beside its index: two columns that are read as one cost
// half.
const stateBits = 4

// fill reads columns that are not kept from the store, once there is room for them: other sweeps
// are forgotten, and so are the columns that are kept where both have none.
func (c *sweepColumns) fill(ctx context.Context, r *Reader, s Sweep,
	requested []*cachedColumn) error {
	tasks, columns := max(int64(len(c.index)), s.Rows()), len(c.cached)
	for _, k := range requested {
		if !slices.ContainsFunc(c.cached, k.same) {
			columns++
		}
	}
	if c.size(tasks, columns) > r.columns.maxBytes {
		c.reset()
		columns = len(requested)
	}
	c.bytes.Store(c.size(tasks, columns))
	r.columns.evict()
	var plain, metrics []*cachedColumn
	text := "SELECT idx << 4 | state AS place"
	for _, k := range requested {
		switch {
		case slices.ContainsFunc(c.cached, k.same):
		case k.columnKind == &metricKind:
			metrics = append(metrics, k)
		default:
			plain = append(plain, k)
			text += ", " + k.name
		}
	}
	if len(metrics) > 0 {
		text += ", metrics"
	}
	missing := slices.Concat(plain, metrics)
	for _, k := range missing {
		k.values = slices.Repeat([]int64{absent}, len(c.index))
	}
	at := 0
	err := r.scan(ctx, text+" FROM tasks WHERE sweep = ? ORDER BY idx", []any{s.Seq},
		func(_ decoder, row []driver.Value) (bool, error) {
			if !c.advance(row, missing, &at) {
				return true, nil
			}
			for i, k := range plain {
				k.values[at] = c.number(row[1+i])
			}
			if text, ok := row[len(row)-1].(string); ok {
				for _, k := range metrics {
					if v, ok := k.stored(text); ok {
						k.values[at] = metricBits(v)
					}
				}
			}
			if c.size(int64(len(c.index)), columns) > r.columns.maxBytes {
				return false, errNoRoom
			}
			return true, nil
		})
	if err != nil {
		c.reset()
		return err
	}
	c.cached, c.filled = append(c.cached, missing...), true
	c.count()
	return nil
}

// advance moves on to the task of a row that was read; false when it is not known yet, as what was
// committed of it is on its way. The first time every task is new.
func (c *sweepColumns) advance(row []driver.Value, missing []*cachedColumn, at *int) bool {
	key, _ := row[0].(int64) // bits of whole numbers are one
	index := key >> stateBits
	if !c.filled {
		c.index, c.state = append(c.index, index), append(c.state, uint8(key&(1<<stateBits-1)))
		for _, k := range missing {
			k.values = append(k.values, absent)
		}
	}
	for *at < len(c.index) && c.index[*at] < index {
		*at++
	}
	return *at < len(c.index) && c.index[*at] == index
}

func (c *sweepColumns) reset() {
	c.filled, c.index, c.state, c.cached = false, nil, nil, nil
	c.texts, c.numbers, c.length = nil, map[string]int64{}, 0
	c.bytes.Store(0)
}
