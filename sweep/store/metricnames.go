package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"sync"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/table"
)

// metricNames holds in memory which metrics tasks of some sweeps ever had, and from which index on,
// so that the names are found without reading every task. Commit adds to it. Safe for concurrent
// use.
type metricNames struct {
	mu     sync.Mutex
	sweeps []*sweepMetricNames // the one used last is the last
}

// sweepMetricNames are the metrics of one sweep. A task may have lost one since, with a new
// attempt; none below its index has had it.
type sweepMetricNames struct {
	seq      int64
	first    map[string]int64
	complete bool // every task was read
}

const (
	maxNamedSweeps = 64     // sweeps
	maxMetricNames = 10_000 // of one sweep; one that has more is read every time
)

// use returns the names of a sweep, which is the one used last from then on.
func (m *metricNames) use(seq int64) *sweepMetricNames {
	at := slices.IndexFunc(m.sweeps, func(n *sweepMetricNames) bool { return n.seq == seq })
	n := &sweepMetricNames{seq: seq, first: map[string]int64{}}
	if at >= 0 {
		n = m.sweeps[at]
		m.sweeps = slices.Delete(m.sweeps, at, at+1)
	}
	m.sweeps = append(m.sweeps, n)
	if len(m.sweeps) > maxNamedSweeps {
		m.sweeps = slices.Delete(m.sweeps, 0, 1)
	}
	return n
}

// add takes in the metrics of a task.
func (n *sweepMetricNames) add(t *core.Task) {
	for _, v := range t.Attempt.Metrics() {
		if first, have := n.first[v.Name]; !have || t.Index < first {
			n.first[v.Name] = t.Index
		}
	}
}

// update takes in what was committed about a sweep.
func (m *metricNames) update(seq int64, tasks []core.Task) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := slices.IndexFunc(m.sweeps, func(n *sweepMetricNames) bool { return n.seq == seq })
	if at < 0 {
		return
	}
	n := m.sweeps[at]
	for i := range tasks {
		n.add(&tasks[i])
	}
	if len(n.first) > maxMetricNames {
		m.sweeps = slices.Delete(m.sweeps, at, at+1)
	}
}

// known returns what is in memory of a sweep's names. When not all are, those that are committed
// from now on are added to n, for [metricNames.fill].
func (m *metricNames) known(seq int64) (n *sweepMetricNames, first map[string]int64,
	complete bool) {
	if m == nil {
		return nil, nil, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n = m.use(seq)
	if !n.complete {
		return n, nil, false
	}
	return n, maps.Clone(n.first), true
}

// fill adds what was read of every task of a sweep since [metricNames.known].
func (m *metricNames) fill(n *sweepMetricNames, read map[string]int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	// forgotten: commits were not added
	if !slices.Contains(m.sweeps, n) || len(read) > maxMetricNames {
		return
	}
	for name, first := range read {
		if have, is := n.first[name]; !is || first < have {
			n.first[name] = first
		}
	}
	n.complete = true
}

// MetricNames lists the metrics that tasks of a sweep have, by the first task that has each, and as
// that task has them.
func (r *Reader) MetricNames(ctx context.Context, s Sweep) ([]string, error) {
	n, first, complete := r.names.known(s.Seq)
	if complete {
		return r.namesFrom(ctx, s, first)
	}
	first = map[string]int64{}
	names, err := r.readNames(ctx, s, first, "")
	if err == nil && n != nil {
		r.names.fill(n, first)
	}
	return names, err
}

// readNames reads every task until one has a metric, "" for all tasks, and adds where each name is
// first. It returns the names, which are not nil.
func (r *Reader) readNames(ctx context.Context, s Sweep, first map[string]int64,
	until string) (names []string, err error) {
	names = []string{}
	q := TaskQuery{Fields: table.FieldMetrics}
	err = r.Scan(ctx, s, q, func(t *core.Task) bool {
		for _, v := range t.Attempt.Metrics() {
			if _, have := first[v.Name]; !have {
				first[v.Name] = t.Index
				names = append(names, v.Name)
			}
		}
		_, found := first[until]
		return until == "" || !found
	})
	return names, err
}

// namesFrom finds the first task that has each of some metrics.
func (r *Reader) namesFrom(ctx context.Context, s Sweep,
	first map[string]int64) (names []string, _ error) {
	type place struct {
		name   string
		index  int64
		within int
	}
	var places []place
	for name, from := range first {
		var index int64
		var text string
		err := r.db.QueryRowContext(ctx, `SELECT idx, metrics FROM tasks
			WHERE sweep = ? AND idx >= ? AND instr(metrics, ?) ORDER BY idx LIMIT 1`,
			s.Seq, from, storedName(name)).Scan(&index, &text)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		} else if err != nil {
			return nil, readable(err)
		}
		all, err := metric.AppendFinal(nil, text)
		if err != nil {
			return nil, err
		}
		within := slices.IndexFunc(all, func(v metric.FinalValue) bool { return v.Name == name })
		places = append(places, place{name, index, within})
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.within, b.within))
	})
	for _, p := range places {
		names = append(names, p.name)
	}
	return names, nil
}
