package metric

import (
	"bytes"
	"io"
	"time"
)

// MaxLine is how much of a line is looked at, in bytes. The rest of a longer line is passed over; a
// match that touches the cut is ignored, since its number may go on.
const MaxLine = 64 << 10

var (
	metricsKey = []byte(`"metrics"`)
	escape     = []byte{0x1b}
)

// Scanner finds metrics in the raw output of one stream of one attempt. It is an [io.WriteCloser]
// for one goroutine.
//
// Lines end at \n, \r\n or a lone \r (progress bars). Colours and other terminal codes are taken
// out of a line before it is tried. A line may match several rules, and each several times: every
// match is a sample, rule by rule, up to the thousandth of a rule in one line; the last one printed
// is the final value. A JSON line {"metrics": {"loss": 0.3}, "step": 4} is read as such; for the
// names it holds no rule is asked. Memory stays below a few MaxLine whatever is written.
type Scanner struct {
	// Hide, where it is set, changes what is told of the output itself: texts that are no numbers,
	// before they are cut, and the names of metrics in JSON lines.
	Hide func(string) string

	rules    *Rules
	now      func() time.Time
	emit     func(Sample)
	line     int64  // lines that ended, by \n
	pending  []byte // beginning of the line under way, at most MaxLine
	cut      bool   // the line under way is longer than pending
	probes   [][]byte
	hits     []int  // by probe: where it stands next in the block; len(block) if nowhere
	plain    []byte // scratch: a line without terminal codes
	rejected []Rejected
	unread   map[string]bool // metrics of rejected without a number since
	closed   bool
}

// NewScanner returns a scanner that calls emit for every sample found, before the Write that
// completes its line returns. The time of a sample comes from now.
func (r *Rules) NewScanner(now func() time.Time, emit func(Sample)) *Scanner {
	s := &Scanner{rules: r, now: now, emit: emit}
	s.probes = append([][]byte{metricsKey, escape}, r.literals...)
	s.hits = make([]int, len(s.probes))
	return s
}

// Write takes output as it comes, cut anywhere. It fails only after Close.
func (s *Scanner) Write(p []byte) (int, error) {
	if s.closed {
		return 0, io.ErrClosedPipe
	}
	n := len(p)
	if len(s.pending) > 0 || s.cut {
		end := lineEnd(p)
		s.hold(p[:end])
		if end == n {
			return n, nil
		}
		s.flush()
		p = p[end:]
	}
	last := lastEnd(p) + 1
	s.block(p[:last])
	s.hold(p[last:])
	return n, nil
}

// Close looks at a last line without a line end. It always returns nil.
func (s *Scanner) Close() error {
	if !s.closed {
		s.flush()
		s.closed = true
	}
	return nil
}

func (s *Scanner) hold(p []byte) {
	if room := MaxLine - len(s.pending); len(p) > room {
		p, s.cut = p[:room], true
	}
	s.pending = append(s.pending, p...)
}

func (s *Scanner) flush() {
	s.scanLine(s.pending, s.cut)
	s.pending, s.cut = s.pending[:0], false
}

// block looks at the lines of b that a probe finds; b is empty or ends with a line end.
func (s *Scanner) block(b []byte) {
	for i := range s.hits {
		s.hits[i] = -1
	}
	at := 0
	for at < len(b) {
		hit := s.next(b, at)
		if hit == len(b) {
			break
		}
		start := at + lastEnd(b[at:hit]) + 1
		end := hit + lineEnd(b[hit:])
		s.line += int64(bytes.Count(b[at:start], newline))
		s.scanLine(b[start:end], false)
		if b[end] == '\n' {
			s.line++
		}
		at = end + 1
	}
	s.line += int64(bytes.Count(b[at:], newline))
}

// next returns the first place from at on that a line worth a look holds, or len(b).
func (s *Scanner) next(b []byte, at int) int {
	if s.rules.everyLine {
		return at
	}
	first := len(b)
	for i, probe := range s.probes {
		if s.hits[i] < at {
			s.hits[i] = len(b)
			if found := bytes.Index(b[at:], probe); found >= 0 {
				s.hits[i] = at + found
			}
		}
		first = min(first, s.hits[i])
	}
	return first
}

var newline = []byte{'\n'}

// lineEnd returns where the first line end stands, or len(b). It goes by windows: searching all of
// b for the one kind of line end, for each line that ends with the other, would take quadratic
// time.
func lineEnd(b []byte) int {
	const window = 4 << 10
	for at := 0; at < len(b); at += window {
		part := b[at:min(at+window, len(b))]
		if i := bytes.IndexByte(part, '\n'); i >= 0 {
			part = part[:i+1]
		}
		if i := bytes.IndexByte(part, '\r'); i >= 0 {
			return at + i
		}
		if last := len(part) - 1; part[last] == '\n' {
			return at + last
		}
	}
	return len(b)
}

// lastEnd returns where the last line end stands, or -1.
func lastEnd(b []byte) int {
	i := bytes.LastIndexByte(b, '\n')
	if j := bytes.LastIndexByte(b[i+1:], '\r'); j >= 0 {
		return i + 1 + j
	}
	return i
}
