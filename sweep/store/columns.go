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

// columns are some of the columns of a sweep's tasks.
type columns struct {
	seq   int64
	bytes atomic.Int64

	waits   sync.Mutex
	waiting []core.Task // committed and not in the columns yet

	mu      sync.Mutex // protects what follows, also while it is read
	index   []int64    // of the tasks, ascending
	state   []uint8
	kept    []*keptColumn
	texts   []string // that columns of text refer to
	numbers map[string]int64
	length  int64 // of texts, in bytes
	filled  bool  // with every task
}

// keptColumn has for each task a number, the number of a text, or the bits of a metric's value.
type keptColumn struct {
	*columnKind
	metric string
	stored func(text string) (value float64, ok bool) // reads the metric
	values []int64
}

// absent is what a column has for NULL: the bits of one of the many values that are not a number.
const absent = math.MaxInt64

// has reports whether all of some columns are kept, and returns them.
func (c *columns) has(wanted []*keptColumn) (all []*keptColumn, ok bool) {
	for _, w := range wanted {
		i := slices.IndexFunc(c.kept, w.same)
		if i < 0 {
			return nil, false
		}
		all = append(all, c.kept[i])
	}
	return all, c.filled
}

func (k *keptColumn) same(other *keptColumn) bool {
	return k.columnKind == other.columnKind && k.metric == other.metric
}

// settle takes in what was committed.
func (c *columns) settle() {
	c.waits.Lock()
	waiting := c.waiting
	c.waiting = nil
	c.waits.Unlock()
	if !c.filled || len(waiting) == 0 {
		return
	}
	for i := range waiting {
		t := &waiting[i]
		at := c.place(t.Index)
		c.state[at] = uint8(t.State)
		for _, k := range c.kept {
			k.values[at] = c.value(k, t)
		}
	}
	c.count()
}

// place is where a task stands, which may be new.
func (c *columns) place(index int64) int {
	at, known := slices.BinarySearch(c.index, index)
	if !known {
		c.index, c.state = slices.Insert(c.index, at, index), slices.Insert(c.state, at, 0)
		for _, k := range c.kept {
			k.values = slices.Insert(k.values, at, absent)
		}
	}
	return at
}

func (c *columns) count() { c.bytes.Store(c.size(int64(len(c.index)), len(c.kept))) }

// size is about what so many columns of so many tasks take, with the texts.
func (c *columns) size(tasks int64, columns int) int64 { return tasks*rowBytes(columns) + c.length }

// rowBytes is what a task takes in so many columns, beside its texts.
func rowBytes(columns int) int64 { return int64(9 + 8*columns) }

func (c *columns) value(k *keptColumn, t *core.Task) int64 {
	if k.columnKind != &metricKind {
		return c.number(k.of(t))
	}
	if v, ok := t.Try.Metrics().Get(k.metric); ok {
		return metricBits(v)
	}
	return absent
}

// number is what stands for a value of a column.
func (c *columns) number(value any) int64 {
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
func (c *columns) scan(ctx context.Context, q Query, wanted []*keptColumn, each func(*core.Task) bool) error {
	var t core.Task
	var m memory
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
		t, m = core.Task{Index: c.index[at], State: task.State(c.state[at])}, memory{metrics: m.metrics[:0]}
		for _, k := range wanted {
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

// errNoRoom tells that what a question looks at has no room in memory.
var errNoRoom = errors.New("the columns and their texts have no room in memory")

// stateBits is room for a task's state beside its index: two columns that are read as one cost half.
const stateBits = 4

// fill reads columns that are not kept from the store, once there is room for them: other sweeps are
// forgotten, and so are the columns that are kept where both have none.
func (c *columns) fill(ctx context.Context, r *Reader, s Sweep, wanted []*keptColumn) error {
	tasks, columns := max(int64(len(c.index)), s.rows()), len(c.kept)
	for _, k := range wanted {
		if !slices.ContainsFunc(c.kept, k.same) {
			columns++
		}
	}
	if c.size(tasks, columns) > r.recent.most {
		c.reset()
		columns = len(wanted)
	}
	c.bytes.Store(c.size(tasks, columns))
	r.recent.shrink()
	var plain, metrics []*keptColumn
	text := "SELECT idx << 4 | state AS place"
	for _, k := range wanted {
		switch {
		case slices.ContainsFunc(c.kept, k.same):
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
	err := r.scan(ctx, text+" FROM tasks WHERE sweep = ? ORDER BY idx", []any{s.Seq}, func(_ decoder, row []driver.Value) (bool, error) {
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
		if c.size(int64(len(c.index)), columns) > r.recent.most {
			return false, errNoRoom
		}
		return true, nil
	})
	if err != nil {
		c.reset()
		return err
	}
	c.kept, c.filled = append(c.kept, missing...), true
	c.count()
	return nil
}

// advance moves on to the task of a row that was read; false when it is not known yet, as what was
// committed of it is on its way. The first time every task is new.
func (c *columns) advance(row []driver.Value, missing []*keptColumn, at *int) bool {
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

func (c *columns) reset() {
	c.filled, c.index, c.state, c.kept = false, nil, nil, nil
	c.texts, c.numbers, c.length = nil, map[string]int64{}, 0
	c.bytes.Store(0)
}
