package metric

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"mlframework/sweep/expr"
)

// Rejected counts what matched a metric without being a number. It is persisted: its JSON names
// never change.
type Rejected struct {
	Name  string `json:"name"` // of the metric
	Count int64  `json:"count"`
	Line  int64  `json:"line"` // of the first
	Text  string `json:"text"` // of the first, at most 80 bytes; may hold anything: make it visible before showing it
}

// maxRejected bounds the names that are counted; scripts can make up names in JSON lines.
const maxRejected = 100

// maxMatches bounds the matches of one rule in one line: each may have to look at all of the line.
const maxMatches = 1000

// Rejected returns what matched and was not a number, by metric, in order of first appearance.
func (s *Scanner) Rejected() []Rejected { return slices.Clone(s.rejected) }

// Unread returns those of Rejected whose metric has had no number since: its final value is not
// what was printed last.
func (s *Scanner) Unread() (unread []Rejected) {
	for _, r := range s.rejected {
		if s.unread[r.Name] {
			unread = append(unread, r)
		}
	}
	return unread
}

// look finds the samples of one line; more says that the line goes on after what is given.
func (s *Scanner) look(line []byte, more bool) {
	if len(line) > MaxLine {
		line, more = line[:MaxLine], true
	}
	if bytes.IndexByte(line, escape[0]) >= 0 {
		s.plain = appendPlain(s.plain[:0], line)
		line = s.plain
	}
	if len(line) == 0 {
		return
	}
	read, isJSON := readJSONLine(line)
	if isJSON {
		s.emitJSON(read)
	}
	for i := range s.rules.rules {
		rule := &s.rules.rules[i]
		if bytes.Contains(line, rule.literal) && !read.names(rule.name) {
			s.match(rule, line, more)
		}
	}
}

func (s *Scanner) match(rule *compiled, line []byte, more bool) {
	for _, m := range rule.pattern.FindAllSubmatchIndex(line, maxMatches) {
		from, to := m[2*rule.group], m[2*rule.group+1]
		if from < 0 || more && m[1] == len(line) {
			continue
		}
		if v, ok := parseNumber(string(line[from:to])); ok {
			s.found(rule.name, v, rule.stepIn(line, m))
		} else {
			s.reject(rule.name, line[from:to])
		}
	}
}

// stepIn returns the step in a match; nil: there is none, or it is no whole number.
func (c *compiled) stepIn(line []byte, match []int) *int64 {
	if c.step < 0 || match[2*c.step] < 0 {
		return nil
	}
	return readStep(bytes.TrimSpace(line[match[2*c.step]:match[2*c.step+1]]))
}

func (s *Scanner) emitJSON(read jsonLine) {
	for _, m := range read.metrics {
		if s.Hide != nil {
			m.name = s.Hide(m.name)
		}
		switch {
		case m.name == "" || len(m.name) > MaxName:
			s.reject(expr.Shorten(m.name), m.text)
		case !m.isNumber:
			s.reject(m.name, m.text)
		default:
			s.found(m.name, m.value, read.step)
		}
	}
}

func (s *Scanner) found(name string, value float64, step *int64) {
	delete(s.unread, name)
	s.emit(Sample{Name: name, Value: value, Step: step, Line: s.line + 1, Time: s.now()})
}

func (s *Scanner) reject(name string, text []byte) {
	for i := range s.rejected {
		if s.rejected[i].Name == name {
			s.rejected[i].Count++
			s.unread[name] = true
			return
		}
	}
	if len(s.rejected) < maxRejected {
		if s.unread == nil {
			s.unread = map[string]bool{}
		}
		s.unread[name] = true
		told := string(text)
		if s.Hide != nil {
			told = s.Hide(told)
		}
		s.rejected = append(s.rejected, Rejected{name, 1, s.line + 1, expr.Shorten(told)})
	}
}

// ParseNumber reads a number as a Scanner does; ok is false where the text is none.
func ParseNumber(text string) (value float64, ok bool) { return parseNumber(text) }

// parseNumber reads a number in Go's syntax, spaces around it aside. The dot or comma that ends a
// sentence is no part of it. What is too large for floating point is infinite; nan is NaN: not a
// number, but meant as one.
func parseNumber(text string) (value float64, ok bool) {
	text = strings.TrimSpace(text)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(v, 0) { // where it is infinite, it was out of range
		v, err = strconv.ParseFloat(strings.TrimRight(text, ".,"), 64)
	}
	if err != nil && !math.IsInf(v, 0) {
		return 0, false
	}
	return v, true
}

// appendPlain appends line to out without terminal codes: ESC [ ... letter, ESC ] ... BEL or ESC \,
// ESC and one more.
func appendPlain(out, line []byte) []byte {
	for len(line) > 0 {
		i := bytes.IndexByte(line, escape[0])
		if i < 0 {
			return append(out, line...)
		}
		out = append(out, line[:i]...)
		line = line[i+codeLength(line[i:]):]
	}
	return out
}

// codeLength returns how long the terminal code is that b, beginning with ESC, begins with.
func codeLength(b []byte) int {
	if len(b) < 2 {
		return len(b)
	}
	switch b[1] {
	case '[':
		for i, c := range b[2:] {
			if c >= 0x40 && c <= 0x7e {
				return i + 3
			}
			if c < 0x20 || c > 0x7e {
				return i + 2 // broken off: what follows is text
			}
		}
		return len(b)
	case ']':
		for i, c := range b {
			if c == 0x07 {
				return i + 1
			}
			if i > 0 && c == 0x1b {
				return min(i+2, len(b))
			}
		}
		return len(b)
	default:
		return 2
	}
}
