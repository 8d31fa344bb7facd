package server

import (
	"context"
	"crypto/rand"
	"fmt"
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

// What a buffer keeps for slow readers and for those that reconnect. A reader that missed rows gets
// a snapshot; lines that it missed are counted.
const (
	maxRows           = 4000
	rowsPerEvent      = 1000 // rows of one event
	maxLineBytes      = 1 << 20
	lineBytesPerEvent = 256 << 10 // of the lines of one event
)

// eventBuffer holds the latest events of one sweep, for everybody who follows it. They stay in
// rings for a while, so that a reader that is slow or reconnects resumes where it was, and none of
// them can block the master or fill its memory.
type eventBuffer struct {
	detail api.Detail
	// name is unique: the id of an event of another buffer, as before a restart of the master, is
	// not one of this
	name string

	mu       sync.Mutex
	version  int64         // counts changes
	changed  chan struct{} // closed with every change, and replaced
	now      core.Summary
	best     *api.Best
	unranked *api.Unranked
	rows     ring[table.Row]
	lines    ring[task.Line]
	closed   bool // the master has stopped
}

func newEventBuffer(d api.Detail) *eventBuffer {
	return &eventBuffer{detail: d, name: strings.ToLower(rand.Text()), changed: make(chan struct{}),
		rows:  ring[table.Row]{capacity: maxRows, weigh: func(table.Row) int { return 1 }},
		lines: ring[task.Line]{capacity: maxLineBytes, weigh: weight}}
}

// run reads a watcher until ctx or the master ends.
func (b *eventBuffer) run(ctx context.Context, w *master.Watcher) {
	for {
		u, err := w.Next(ctx)
		if err != nil {
			return
		}
		b.add(u)
		if u.Closed {
			return
		}
	}
}

// waitReady waits until the buffer has the sweep's summary.
func (b *eventBuffer) waitReady(ctx context.Context) error {
	b.mu.Lock()
	version, changed := b.version, b.changed
	b.mu.Unlock()
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

func (b *eventBuffer) add(u api.Update) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now, b.best, b.unranked, b.closed = u.Sweep, u.Best, u.Unranked, b.closed || u.Closed
	b.rows.add(u.Rows...)
	b.rows.skip(u.Cut)
	b.lines.add(u.Lines...)
	b.lines.skip(u.Missed)
	b.version++
	close(b.changed)
	b.changed = make(chan struct{})
}

// position is how far a reader has read a buffer.
type position struct{ row, line int64 }

// id returns the id of the event at a position, for a reader that has followed since a time; the
// zero time stands for the start of the sweep.
func (b *eventBuffer) id(at position, since time.Time) string {
	var begin int64
	if !since.IsZero() {
		begin = since.UnixMilli()
	}
	return fmt.Sprintf("%s.%d.%d.%d", b.name, begin, at.row, at.line)
}

// readerSince returns since when the reader of an event's id, of any buffer, has followed. The zero
// time means since the start of the sweep, or that it is not known.
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

// find returns the position of an id. lost reports whether it belongs to another buffer, or rows
// after it are no longer kept. Without tasks in the detail nothing can be lost.
func (b *eventBuffer) find(id string) (at position, lost bool) {
	parts := strings.Split(id, ".")
	b.mu.Lock()
	defer b.mu.Unlock()
	now := position{b.rows.end, b.lines.end}
	if !b.detail.Tasks() {
		return now, false
	}
	if len(parts) != idParts || parts[0] != b.name {
		return now, true
	}
	row, wrongRow := strconv.ParseInt(parts[2], 10, 64)
	line, wrongLine := strconv.ParseInt(parts[3], 10, 64)
	if wrongRow != nil || wrongLine != nil || line < 0 || line > now.line {
		return now, true
	}
	if !b.rows.covers(row) {
		return position{now.row, line}, true
	}
	return position{row, line}, false
}

// beforeFirst is a position that forces a snapshot: what happened before the buffer was made is
// missing, too.
var beforeFirst = position{row: -1}

// end returns the position after the last event.
func (b *eventBuffer) end() position {
	b.mu.Lock()
	defer b.mu.Unlock()
	return position{b.rows.end, b.lines.end}
}

// delta is what follows a position.
type delta struct {
	api.Update
	to      position
	version int64
	more    bool            // more rows follow
	gap     bool            // some rows are no longer kept; the Update has none
	changed <-chan struct{} // closed when more comes
}

// after returns what follows a position, at most one event's worth.
func (b *eventBuffer) after(at position) delta {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := delta{Update: api.Update{Sweep: b.now, Best: b.best, Unranked: b.unranked,
		Closed: b.closed}, version: b.version, changed: b.changed}
	if n.gap = !b.rows.covers(at.row); n.gap {
		n.to = position{b.rows.end, at.line}
		return n
	}
	n.Rows = b.rows.after(at.row)
	n.Rows = n.Rows[:min(len(n.Rows), rowsPerEvent)]
	n.Lines = b.lines.after(at.line)
	n.Missed = b.lines.end - at.line - int64(len(n.Lines)) // they came before n.Lines
	n.Lines = n.Lines[:countFitting(n.Lines, lineBytesPerEvent)]
	n.to = position{at.row + int64(len(n.Rows)), at.line + n.Missed + int64(len(n.Lines))}
	n.more = n.to.row < b.rows.end
	return n
}

// lineOverhead is about what a line weighs beside its text, in bytes.
const lineOverhead = 256

func weight(l task.Line) int { return lineOverhead + len(l.Text) }

// countFitting is how many of the first lines weigh no more than most together; 1 at least, if
// there are any.
func countFitting(lines []task.Line, most int) (n int) {
	for ; n < len(lines); n++ {
		if most -= weight(lines[n]); most < 0 && n > 0 {
			return n
		}
	}
	return n
}
