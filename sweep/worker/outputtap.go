package worker

import (
	"bytes"
	"fmt"
	"time"
	"unicode/utf8"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

// maxLine is how many bytes of a line are sent to followers. The file has all of it.
const maxLine = 4096

// redrawEvery is how often a line that a program overwrites, as progress bars do with \r, is sent
// to followers.
const redrawEvery = 2 * time.Second

// outputTap sends lines to followers. A line ends at \n or \r\n. Text that ends at a lone \r is
// about to be overwritten: one such text is sent every two seconds, and the last one.
type outputTap struct {
	port     queue.WorkerEndpoint
	followed *followedSweeps
	now      func() time.Time
	// what all lines of the stream have in common
	line task.Line
	// an incomplete line
	partial []byte
	// the last byte was \r: what follows overwrites partial, or is the \n of \r\n
	returned bool
	// when text that ended at \r was last sent
	redrawnAt time.Time
	missed    int64
	// the last line that was not accepted, while missed is not 0
	rejected []byte
}

func (t *outputTap) write(p []byte) {
	if !t.followed.has(t.line.Sweep) {
		t.partial, t.missed, t.returned = t.partial[:0], 0, false
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

// add appends text to the incomplete line, or overwrites it.
func (t *outputTap) add(p []byte) {
	if len(p) == 0 {
		return
	}
	if t.returned {
		t.redraw()
		t.returned = false
	}
	t.partial = append(t.partial, p[:min(len(p), maxLine-len(t.partial))]...)
}

// redraw drops the text that is overwritten, or sends it if that is due.
func (t *outputTap) redraw() {
	if now := t.now(); len(t.partial) > 0 && now.Sub(t.redrawnAt) >= redrawEvery {
		t.redrawnAt = now
		t.send()
	}
	t.partial = t.partial[:0]
}

func (t *outputTap) send() {
	l := t.line
	l.Time, l.Text, l.Missed = t.now(), validText(t.partial), t.missed
	t.partial = t.partial[:0]
	if t.port.OfferLine(l) {
		t.missed = 0
	} else {
		t.missed++
		t.rejected = append(t.rejected[:0], l.Text...)
	}
}

// validText returns a line as it travels in JSON: bytes that are not UTF-8 become escapes, as a
// terminal shows them.
func validText(line []byte) string {
	if utf8.Valid(line) {
		return string(line)
	}
	var text []byte
	for len(line) > 0 {
		r, n := utf8.DecodeRune(line)
		if r == utf8.RuneError && n == 1 {
			text = fmt.Appendf(text, `\x%02x`, line[0])
		} else {
			text = append(text, line[:n]...)
		}
		line = line[n:]
	}
	return string(text)
}

const (
	// lastLineTimeout is how long the last line of a stream is offered again, and lastLineEvery how
	// often, when followers are behind.
	lastLineTimeout = 250 * time.Millisecond
	lastLineEvery   = 10 * time.Millisecond
)

// close sends an incomplete last line. A last line that was not accepted is offered for a while: it
// carries how many lines before it were left out, and is often the one that matters.
func (t *outputTap) close() {
	if len(t.partial) > 0 && t.followed.has(t.line.Sweep) {
		t.send()
	}
	if t.missed == 0 {
		return
	}
	pause := time.NewTicker(lastLineEvery)
	defer pause.Stop()
	for range lastLineTimeout / lastLineEvery {
		<-pause.C
		if !t.followed.has(t.line.Sweep) {
			return
		}
		l := t.line
		l.Time, l.Text, l.Missed = t.now(), string(t.rejected), t.missed-1
		if t.port.OfferLine(l) {
			return
		}
	}
}
