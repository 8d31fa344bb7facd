package worker

import (
	"bytes"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

// longestLine is how much of a line goes to those who follow, in bytes. The file has all of it.
const longestLine = 4096

// tap sends lines to whoever follows. Lines end at \n, \r\n or a lone \r, as progress bars write it.
type tap struct {
	port      queue.Port
	following *following
	line      task.Line // what all lines of the stream have in common
	part      []byte    // of a line that has not ended
	missed    int64
	afterCR   bool // the last byte was \r: a \n now ends no second line
}

func (t *tap) write(p []byte) {
	if !t.following.on(t.line.Sweep) {
		t.part, t.missed, t.afterCR = t.part[:0], 0, false
		return
	}
	for len(p) > 0 {
		end := bytes.IndexAny(p, "\r\n")
		if end < 0 {
			t.add(p)
			return
		}
		t.add(p[:end])
		if !(p[end] == '\n' && t.afterCR && len(t.part) == 0) {
			t.send()
		}
		t.afterCR = p[end] == '\r'
		p = p[end+1:]
	}
}

func (t *tap) add(p []byte) {
	if len(p) > 0 {
		t.afterCR = false
	}
	t.part = append(t.part, p[:min(len(p), longestLine-len(t.part))]...)
}

func (t *tap) send() {
	l := t.line
	l.Time, l.Text, l.Missed = time.Now(), string(t.part), t.missed
	t.part = t.part[:0]
	if t.port.Show(l) {
		t.missed = 0
	} else {
		t.missed++
	}
}

// close sends a last line that has no line end.
func (t *tap) close() {
	if len(t.part) > 0 && t.following.on(t.line.Sweep) {
		t.send()
	}
}
