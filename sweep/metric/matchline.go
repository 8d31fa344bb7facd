package metric

import (
	"bytes"

	"mlframework/sweep/expr"
)

// maxMatches bounds the matches of one rule in one line: each may have to look at all of the line.
const maxMatches = 1000

// scanLine finds the samples of one line; more says that the line goes on after what is given.
func (s *Scanner) scanLine(line []byte, more bool) {
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
		if to == m[1] {
			to += numberRest(line[from:to], line[to:])
		}
		if v, ok := ParseNumber(string(line[from:to])); ok {
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
	return ParseStep(string(bytes.TrimSpace(line[match[2*c.step]:match[2*c.step+1]])))
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
