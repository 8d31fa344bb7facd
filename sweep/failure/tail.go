package failure

import "bytes"

const (
	mostTail = 64 << 10 // bytes that a Tail keeps
	mostLine = 1 << 10  // bytes of a line that it keeps, the first
	// bytes of what comes at once that it looks at where it is many short lines, the last
	mostBlock = 16 << 10
)

// Tail keeps the end of what a stream printed: its last lines, of each the beginning, and of a line
// that was written over, as progress bars are, what stands there last. The zero Tail is empty and
// takes no memory; no Tail takes more than 64 KiB. It is for one goroutine.
type Tail struct {
	kept []byte
	line int // where the line under way begins
	// the last byte was \r: what comes next writes over the line, or is the \n of \r\n
	returned bool
}

// Add takes what a stream printed, cut anywhere.
func (t *Tail) Add(p []byte) {
	from, least := 0, 2*mostLine
	if len(p) > mostBlock {
		from, least = len(p)-mostBlock, mostBlock/2
	}
	first := bytes.IndexByte(p[from:], '\n') + 1
	if rest := p[from+first:]; first > 0 && len(rest) >= least && areShort(rest) {
		if from == 0 {
			t.lines(p[:first])
		} else { // what stands before that many lines is not needed
			t.kept, t.returned = t.kept[:t.line], false
		}
		p = t.block(rest)
	}
	t.lines(p)
}

// areShort reports whether all of many lines are kept as they are: none is long or written over,
// and they are not blank.
func areShort(p []byte) bool {
	const window = mostLine / 2
	for at := 0; at < len(p); at += window {
		if part := p[at:min(at+window, len(p))]; len(part) == window &&
			bytes.IndexByte(part, '\n') < 0 {
			return false
		}
	}
	return bytes.IndexByte(p, '\r') < 0 && !bytes.Contains(p, []byte("\n\n\n"))
}

// block adds lines that are short, and returns what follows the last of them. No line is under way.
func (t *Tail) block(p []byte) (rest []byte) {
	end := bytes.LastIndexByte(p, '\n') + 1
	t.room(end)
	t.kept = append(t.kept, p[:end]...)
	t.line = len(t.kept)
	return p[end:]
}

func (t *Tail) lines(p []byte) {
	for len(p) > 0 {
		end := lineEnd(p)
		if end > 0 {
			t.put(p[:end])
		}
		if end == len(p) {
			return
		}
		if t.returned = p[end] == '\r'; !t.returned {
			t.end()
		}
		p = p[end+1:]
	}
}

// put adds to the line under way.
func (t *Tail) put(p []byte) {
	if t.returned {
		t.kept, t.returned = t.kept[:t.line], false
	}
	p = p[:min(len(p), mostLine-(len(t.kept)-t.line))]
	t.room(len(p) + 1)
	t.kept = append(t.kept, p...)
}

// end ends the line under way. Of empty lines one is kept.
func (t *Tail) end() {
	if n := len(t.kept); t.line == n && (n == 0 || n > 1 && t.kept[n-2] == '\n') {
		return
	}
	t.room(1)
	t.kept = append(t.kept, '\n')
	t.line = len(t.kept)
}

// room drops the older half of the lines where n more bytes have no room.
func (t *Tail) room(n int) {
	if t.kept == nil {
		t.kept = make([]byte, 0, mostLine)
	}
	if len(t.kept)+n <= mostTail {
		return
	}
	half := len(t.kept) / 2 // a line is much shorter: one ends behind it
	from := half + bytes.IndexByte(t.kept[half:], '\n') + 1
	t.kept = t.kept[:copy(t.kept, t.kept[from:])]
	t.line -= from
}

// lineEnd returns where the first line end stands, or len(p). It goes by windows: searching all of
// p for the one kind of line end, for each line that ends with the other, would take quadratic
// time.
func lineEnd(p []byte) int {
	const window = 4 << 10
	for at := 0; at < len(p); at += window {
		part := p[at:min(at+window, len(p))]
		n := bytes.IndexByte(part, '\n')
		if n >= 0 {
			part = part[:n]
		}
		if r := bytes.IndexByte(part, '\r'); r >= 0 {
			return at + r
		}
		if n >= 0 {
			return at + n
		}
	}
	return len(p)
}
