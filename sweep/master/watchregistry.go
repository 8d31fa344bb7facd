package master

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/metric"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// What a slow watcher gets at most at once. What is left out is counted.
const (
	maxRows      = 20000
	maxLines     = 2000
	maxLineBytes = 1 << 20
)

// leader is the task that ranks first so far.
type leader struct {
	api.Best
	number float64
	index  int64 // of the task
}

// shown returns what followers are told of the leader; nil: there is none.
func (l *leader) shown() *api.Best {
	if l == nil {
		return nil
	}
	return &l.Best
}

// Watcher follows one sweep. It is for one goroutine.
type Watcher struct {
	sweep  string
	wake   chan struct{}
	owner  *watchers
	record core.Record
	row    func(core.Task) table.Row
	detail api.Detail

	mu   sync.Mutex
	next pendingUpdate
}

// Live output takes another way than events, and may come after the end of what printed it: a sweep
// that is idle is reported when no line came for quiet, or lines go on coming for longer than late.
const (
	quiet = 150 * time.Millisecond
	late  = time.Second
)

// pendingUpdate is an Update before it is put into words.
type pendingUpdate struct {
	record   *core.Record // nil: as it was
	head     core.Head
	tasks    []core.Task
	cut      int64
	best     *leader
	unranked *api.Unranked
	lines    []task.Line
	bytes    int // of the lines' texts
	missed   int64
	closed   bool
}

// Next waits for something new. It returns the context's cause when ctx ends first.
func (w *Watcher) Next(ctx context.Context) (api.Update, error) {
	select {
	case <-w.wake:
	case <-ctx.Done():
		return api.Update{}, context.Cause(ctx)
	}
	if w.detail.Output() {
		w.settle(ctx)
	}
	w.mu.Lock()
	n := w.next
	w.next = pendingUpdate{head: n.head, best: n.best, unranked: n.unranked, closed: n.closed}
	w.mu.Unlock()
	if n.record != nil {
		w.record, w.row = *n.record, n.record.Rows(w.sweep)
	}
	u := api.Update{Sweep: w.record.Summary(n.head), Lines: n.lines, Missed: n.missed, Cut: n.cut,
		Best: n.best.shown(), Unranked: n.unranked, Closed: n.closed}
	for _, t := range n.tasks {
		u.Rows = append(u.Rows, w.row(t))
	}
	return u, nil
}

// settle waits for the last lines of a sweep that is idle.
func (w *Watcher) settle(ctx context.Context) {
	for end := time.Now().Add(late); w.idle() && time.Now().Before(end); {
		select {
		case <-w.wake:
		case <-time.After(quiet):
			return
		case <-ctx.Done():
			return
		}
	}
}

func (w *Watcher) idle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.next.closed && idle(w.next.head)
}

func idle(h core.Head) bool {
	return h.State != core.Open &&
		h.Rows[task.Queued]+h.Rows[task.Claimed]+h.Rows[task.Running] == 0
}

func (w *Watcher) note(f func(*pendingUpdate)) {
	w.mu.Lock()
	f(&w.next)
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// watchers are all that follow. The zero value is ready.
type watchers struct {
	mu     sync.Mutex
	all    map[*Watcher]struct{}
	closed bool
}

func (ws *watchers) add(r core.Record, h core.Head, best *leader, d api.Detail) *Watcher {
	w := &Watcher{sweep: h.ID, wake: make(chan struct{}, 1), owner: ws, record: r,
		row: r.Rows(h.ID), detail: d}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.all == nil {
		ws.all = map[*Watcher]struct{}{}
	}
	ws.all[w] = struct{}{}
	w.note(func(n *pendingUpdate) { n.head, n.best, n.closed = h, best, ws.closed })
	return w
}

// close ends the watching.
func (w *Watcher) close() {
	w.owner.mu.Lock()
	defer w.owner.mu.Unlock()
	delete(w.owner.all, w)
}

// each lets f note something for everybody who is told of a sweep in that detail, or more.
func (ws *watchers) each(sweep string, least api.Detail, f func(api.Detail, *pendingUpdate)) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w := range ws.all {
		if w.sweep == sweep && w.detail.Holds(least) {
			w.note(func(n *pendingUpdate) { f(w.detail, n) })
		}
	}
}

// rewritten tells of a record that changed.
func (ws *watchers) rewritten(sweep string, r core.Record) {
	ws.each(sweep, api.DetailCounts, func(_ api.Detail, n *pendingUpdate) { n.record = &r })
}

// better is the best of a task and the one before.
func (l *leader) better(id string, o metric.Objective, t *core.Task) *leader {
	if !o.Ranks(t.State.String()) {
		return l
	}
	v, ok := t.Attempt.Metrics().Get(o.Metric)
	if !ok || math.IsNaN(v) || l != nil && l.Metric == o.Metric &&
		(v == l.number || v > l.number != o.Maximize) {
		return l
	}
	shown := api.Best{Task: task.ID{Sweep: id, Index: t.Index}.String(), Metric: o.Metric,
		Value: human.Number(v)}
	return &leader{Best: shown, number: v, index: t.Index}
}

// changesBest reports whether the best task of a sweep, by what watchers know, is among tasks that
// changed: it runs again, or has another value, and a worse one may be the best now.
func (ws *watchers) changesBest(id string, tasks []core.Task) (found bool) {
	ws.each(id, api.DetailCounts, func(_ api.Detail, n *pendingUpdate) {
		found = found || n.best != nil && slices.ContainsFunc(tasks,
			func(t core.Task) bool { return t.Index == n.best.index })
	})
	return found
}

// ranked tells which task of a sweep is the best now.
func (ws *watchers) ranked(sweep string, best *leader) {
	ws.each(sweep, api.DetailCounts, func(_ api.Detail, n *pendingUpdate) { n.best = best })
}

// changed tells what a commit changed.
func (ws *watchers) changed(r core.Record, h core.Head, tasks []core.Task) {
	ws.each(h.ID, api.DetailCounts, func(d api.Detail, n *pendingUpdate) {
		for i := range tasks {
			n.best = n.best.better(h.ID, r.Objective, &tasks[i])
			if t := &tasks[i]; n.unranked == nil && t.State == task.Succeeded &&
				!r.Objective.IsZero() {
				if v, ok := t.Attempt.Metrics().Get(r.Objective.Metric); !ok || math.IsNaN(v) {
					n.unranked = &api.Unranked{Task: task.ID{Sweep: h.ID, Index: t.Index}.String(),
						Metric: r.Objective.Metric}
				}
			}
		}
		if n.head = h; !d.Tasks() {
			return
		}
		for i := range tasks {
			switch {
			case handedOut(tasks[i].State):
			case len(n.tasks) == maxRows:
				n.cut++
			default:
				n.tasks = append(n.tasks, tasks[i])
			}
		}
	})
}

// handedOut reports whether a task is on its way to a program, which nobody is told: that it runs
// comes soon, and every task passes through these states.
func handedOut(s task.State) bool { return s == task.Queued || s == task.Claimed }

// follows reports whether the output of a sweep is followed.
func (ws *watchers) follows(sweep string) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w := range ws.all {
		if w.sweep == sweep && w.detail.Output() {
			return true
		}
	}
	return false
}

func (ws *watchers) line(l task.Line) {
	ws.each(l.Sweep, api.DetailOutput, func(_ api.Detail, n *pendingUpdate) {
		if n.missed > 0 || len(n.lines) == maxLines || n.bytes > maxLineBytes {
			n.missed += 1 + l.Missed
			return
		}
		n.lines, n.bytes = append(n.lines, l), n.bytes+len(l.Text)
	})
}

// close tells all that nothing more comes.
func (ws *watchers) close() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.closed = true
	for w := range ws.all {
		w.note(func(n *pendingUpdate) { n.closed = true })
	}
}
