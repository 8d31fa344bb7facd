package worker

import (
	"bytes"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

// longestLine is how much of a line goes to those who follow, in bytes. The file has all of it.
const longestLine = 4096

// redrawn is how often a line that a program writes over again, as progress bars do with \r, goes to those who follow.
const redrawn = 2 * time.Second

// tap sends lines to whoever follows. A line ends at \n or \r\n. What ends at a lone \r is about to be written over: of
// such texts one goes out every two seconds, and the last of them.
type tap struct {
	port      queue.Port
	following *following
	now       func() time.Time
	line      task.Line // what all lines of the stream have in common
	part      []byte    // of a line that has not ended
	returned  bool      // the last byte was \r: what comes next writes over part, or is the \n of \r\n
	drawn     time.Time // when a text that ended at \r was last sent
	missed    int64
	refused   []byte // the text of the last line that was not taken, while missed is not 0
}

func (t *tap) write(p []byte) {
	if !t.following.on(t.line.Sweep) {
		t.part, t.missed, t.returned = t.part[:0], 0, false
		return
	}
	for len(p) > 0 {
		end := bytes.IndexAny(p, "\r\n")
		if end < 0 {
			t.add(p)
			return
		}
		t.add(p[:end])
		if p[end] == '\n' {
			t.send()
		}
		t.returned = p[end] == '\r'
		p = p[end+1:]
	}
}

// add puts text behind the part of a line, or over it.
func (t *tap) add(p []byte) {
	if len(p) == 0 {
		return
	}
	if t.returned {
		t.redraw()
		t.returned = false
	}
	t.part = append(t.part, p[:min(len(p), longestLine-len(t.part))]...)
}

// redraw drops what is written over, or sends it when that is due.
func (t *tap) redraw() {
	if now := t.now(); len(t.part) > 0 && now.Sub(t.drawn) >= redrawn {
		t.drawn = now
		t.send()
	}
	t.part = t.part[:0]
}

func (t *tap) send() {
	l := t.line
	l.Time, l.Text, l.Missed = t.now(), string(t.part), t.missed
	t.part = t.part[:0]
	if t.port.Show(l) {
		t.missed = 0
	} else {
		t.missed++
		t.refused = append(t.refused[:0], l.Text...)
	}
}

// How long the last line of a stream is offered again, and how often, when those who follow are behind.
const (
	lastLineFor   = 250 * time.Millisecond
	lastLineEvery = 10 * time.Millisecond
)

// close sends a last line that has no line end. A last line that was refused is offered for a while: it says how many
// before it were left out, and often it is the one that matters.
func (t *tap) close() {
	if len(t.part) > 0 && t.following.on(t.line.Sweep) {
		t.send()
	}
	if t.missed == 0 {
		return
	}
	pause := time.NewTicker(lastLineEvery)
	defer pause.Stop()
	for range lastLineFor / lastLineEvery {
		<-pause.C
		if !t.following.on(t.line.Sweep) {
			return
		}
		l := t.line
		l.Time, l.Text, l.Missed = t.now(), string(t.refused), t.missed-1
		if t.port.Show(l) {
			return
		}
	}
}
