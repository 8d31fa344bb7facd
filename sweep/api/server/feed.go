package server

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// What a feed keeps for those who read slowly or come back. Who falls behind rows is given all of
// them again; lines that were left out are counted.
const (
	rowsKept       = 4000
	rowsAtOne      = 1000 // rows of one event
	lineBytesKept  = 1 << 20
	lineBytesAtOne = 256 << 10 // of the lines of one event
)

// feed is the events of one sweep, for all who follow it. What happened stays for a while in rings,
// so that a reader who is slow, or whose connection broke, goes on where it was, and none of them
// can hold up or fill the master.
type feed struct {
	detail api.Detail
	// of this feed alone: an id of another one, as before a restart of the master, says nothing
	// here
	name string

	mu       sync.Mutex
	version  int64         // counts changes
	changed  chan struct{} // closed with every change, and made anew
	now      core.Summary
	best     *api.Best
	unranked *api.Unranked
	rows     ring[table.Row]
	lines    ring[task.Line]
	closed   bool // the master has stopped
}

func newFeed(d api.Detail) *feed {
	return &feed{detail: d, name: strings.ToLower(rand.Text()), changed: make(chan struct{}),
		rows:  ring[table.Row]{most: rowsKept, weigh: func(table.Row) int { return 1 }},
		lines: ring[task.Line]{most: lineBytesKept, weigh: weight}}
}

// run reads a watcher until ctx or the master ends.
func (f *feed) run(ctx context.Context, w *master.Watcher) {
	for {
		u, err := w.Next(ctx)
		if err != nil {
			return
		}
		f.add(u)
		if u.Closed {
			return
		}
	}
}

// begun waits until the feed knows how the sweep stands.
func (f *feed) begun(ctx context.Context) error {
	f.mu.Lock()
	version, changed := f.version, f.changed
	f.mu.Unlock()
	if version > 0 {
		return nil
	}
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (f *feed) add(u api.Update) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now, f.best, f.unranked, f.closed = u.Sweep, u.Best, u.Unranked, f.closed || u.Closed
	f.rows.add(u.Rows...)
	f.rows.skip(u.Cut)
	f.lines.add(u.Lines...)
	f.lines.skip(u.Missed)
	f.version++
	close(f.changed)
	f.changed = make(chan struct{})
}

// position is how far somebody has read a feed.
type position struct{ row, line int64 }

// id returns the id of the event at a position, for a reader that follows since a time; zero: since
// the sweep began.
func (f *feed) id(at position, since time.Time) string {
	var begin int64
	if !since.IsZero() {
		begin = since.UnixMilli()
	}
	return fmt.Sprintf("%s.%d.%d.%d", f.name, begin, at.row, at.line)
}

// readerSince returns since when the reader of an id, of this feed or another, has followed. The
// zero value: since the sweep began, or it is not known.
func readerSince(id string) (since time.Time) {
	parts := strings.Split(id, ".")
	if len(parts) != idParts {
		return since
	}
	begin, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || begin <= 0 {
		return since
	}
	return time.UnixMilli(begin)
}

// idParts are name, since, row and line.
const idParts = 4

// find returns the position of an id. Lost reports whether it is of another feed, or rows after it
// are not kept any more; where no tasks are told nothing can be lost.
func (f *feed) find(id string) (at position, lost bool) {
	parts := strings.Split(id, ".")
	f.mu.Lock()
	defer f.mu.Unlock()
	now := position{f.rows.end, f.lines.end}
	if !f.detail.Tasks() {
		return now, false
	}
	if len(parts) != idParts || parts[0] != f.name {
		return now, true
	}
	row, wrongRow := strconv.ParseInt(parts[2], 10, 64)
	line, wrongLine := strconv.ParseInt(parts[3], 10, 64)
	if wrongRow != nil || wrongLine != nil || line < 0 || line > now.line {
		return now, true
	}
	if !f.rows.has(row) {
		return position{now.row, line}, true
	}
	return position{row, line}, false
}

// before is the position of who has read nothing, not even what the feed itself came too late for.
var before = position{row: -1}

// end is the position of who has read everything.
func (f *feed) end() position {
	f.mu.Lock()
	defer f.mu.Unlock()
	return position{f.rows.end, f.lines.end}
}

// news is what came after a position.
type news struct {
	api.Update
	to      position
	version int64
	more    bool            // rows that are kept follow
	gap     bool            // rows of it are not kept, and none are in the Update
	changed <-chan struct{} // closed when more comes
}

// after returns what came after a position, in part when it is much.
func (f *feed) after(at position) news {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := news{Update: api.Update{Sweep: f.now, Best: f.best, Unranked: f.unranked,
		Closed: f.closed}, version: f.version, changed: f.changed}
	if n.gap = !f.rows.has(at.row); n.gap {
		n.to = position{f.rows.end, at.line}
		return n
	}
	n.Rows = f.rows.after(at.row)
	n.Rows = n.Rows[:min(len(n.Rows), rowsAtOne)]
	n.Lines = f.lines.after(at.line)
	n.Missed = f.lines.end - at.line - int64(len(n.Lines)) // they came before n.Lines
	n.Lines = n.Lines[:fitting(n.Lines, lineBytesAtOne)]
	n.to = position{at.row + int64(len(n.Rows)), at.line + n.Missed + int64(len(n.Lines))}
	n.more = n.to.row < f.rows.end
	return n
}

// lineOverhead is about what a line weighs beside its text, in bytes.
const lineOverhead = 256

func weight(l task.Line) int { return lineOverhead + len(l.Text) }

// fitting is how many of the first lines weigh no more than most together; 1 at least, if there are
// any.
func fitting(lines []task.Line, most int) (n int) {
	for ; n < len(lines); n++ {
		if most -= weight(lines[n]); most < 0 && n > 0 {
			return n
		}
	}
	return n
}

// ring keeps the last of what was added: items that weigh most together, or up to twice that. What
// it returned is never changed.
type ring[T any] struct {
	most  int
	weigh func(T) int

	kept   []T
	weight int   // of kept
	end    int64 // how many were ever added or skipped
}

func (r *ring[T]) add(items ...T) {
	r.kept, r.end = append(r.kept, items...), r.end+int64(len(items))
	for _, i := range items {
		r.weight += r.weigh(i)
	}
	if r.weight <= 2*r.most {
		return
	}
	first := 0
	for ; r.weight > r.most; first++ {
		r.weight -= r.weigh(r.kept[first])
	}
	r.kept = slices.Clone(r.kept[first:])
}

// skip counts items that were never here: nobody can go on from before them.
func (r *ring[T]) skip(n int64) {
	if n > 0 {
		r.kept, r.weight, r.end = nil, 0, r.end+n
	}
}

// has reports whether everything after a position is kept.
func (r *ring[T]) has(at int64) bool { return at <= r.end && at >= r.end-int64(len(r.kept)) }

// after returns what came after a position, as far as it is kept.
func (r *ring[T]) after(at int64) []T {
	n := min(r.end-at, int64(len(r.kept)))
	return slices.Clip(r.kept[int64(len(r.kept))-n:])
}
