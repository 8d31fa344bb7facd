package metricfile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"mlframework/sweep/result"
)

// csvReader reads columns of a file with a header. Fields are separated by what the header has most of: commas, tabs or semicolons.
type csvReader struct {
	common
	lines
	separator byte
	header    []string
	columns   []int // of the names; -1: not there
	stepAt    int   // of the step; -1: there is none
	fields    []string
	quoted    []byte // lines of a field in quotes that goes on
}

func (r *csvReader) Whole() bool { return false }

func (r *csvReader) Problems() []string {
	if r.header == nil && !r.dead {
		return append(slices.Clone(r.problems), "has no header yet")
	}
	return r.missing("column")
}

func (r *csvReader) Write(p []byte) (int, error) {
	text, end := r.text(p)
	r.write(text, r.line)
	r.over(end, "CSV")
	return len(p), nil
}

func (r *csvReader) Close() {
	if r.dead || len(r.pending) == 0 {
		return
	}
	// A program that was killed has written a part of its last line: it may have fewer fields.
	if r.header == nil || unquoted(string(r.pending), r.separator) >= len(r.header)-1 {
		r.end(r.line)
	}
}

func (r *csvReader) line(line []byte, whole bool) {
	if !whole {
		r.quoted = r.quoted[:0]
		r.problem("line %d is longer than %d bytes and is left out", r.number, longestLine)
		return
	}
	if open := bytes.Count(line, []byte{'"'})%2 == 1; open != (len(r.quoted) > 0) {
		// A field in quotes goes on in the next line, unless it never ends.
		if len(r.quoted)+len(line) < longestLine {
			r.quoted = append(append(r.quoted, line...), '\n')
			return
		}
		r.problem("a quote before line %d never ends: lines are left out", r.number)
		r.quoted = r.quoted[:0]
	}
	if len(r.quoted) > 0 {
		line = append(r.quoted, line...)
		r.quoted = r.quoted[:0]
	}
	switch {
	case len(bytes.TrimSpace(line)) == 0:
	case r.header == nil:
		r.begin(strings.TrimPrefix(string(line), "\uFEFF"))
	default:
		r.record(string(line))
	}
}

// begin reads the header.
func (r *csvReader) begin(line string) {
	r.separator = ','
	for _, s := range []byte{'\t', ';'} {
		if unquoted(line, s) > unquoted(line, r.separator) {
			r.separator = s
		}
	}
	r.header = slices.Clone(r.split(line))
	r.stepAt = -1
	for i, name := range r.header {
		r.header[i] = strings.Clone(name)
		r.has(name)
		if r.stepAt < 0 && strings.EqualFold(name, "step") {
			r.stepAt = i
		}
	}
	for i, name := range r.names {
		at := slices.Index(r.header, name)
		r.columns = append(r.columns, at)
		r.seen[i] = at >= 0
	}
}

// unquoted counts a character outside of quotes.
func unquoted(line string, c byte) (n int) {
	quoted := false
	for i := range len(line) {
		switch {
		case line[i] == '"':
			quoted = !quoted
		case line[i] == c && !quoted:
			n++
		}
	}
	return n
}

// split returns the fields of a line, without quotes and the spaces around them.
func (r *csvReader) split(line string) []string {
	r.fields = r.fields[:0]
	for {
		field, rest, more := r.field(line)
		r.fields = append(r.fields, field)
		if !more {
			return r.fields
		}
		line = rest
	}
}

func (r *csvReader) field(line string) (field, rest string, more bool) {
	trimmed := strings.TrimLeft(line, " ")
	if !strings.HasPrefix(trimmed, `"`) {
		field, rest, more = strings.Cut(line, string(r.separator))
		return strings.TrimSpace(field), rest, more
	}
	for at := 1; at < len(trimmed); at++ {
		if trimmed[at] != '"' {
			continue
		}
		if at+1 < len(trimmed) && trimmed[at+1] == '"' {
			at++
			continue
		}
		_, rest, more = strings.Cut(trimmed[at+1:], string(r.separator))
		return strings.ReplaceAll(trimmed[1:at], `""`, `"`), rest, more
	}
	return strings.TrimSpace(trimmed), "", false
}

func (r *csvReader) record(line string) {
	fields := r.split(line)
	at := func() string { return fmt.Sprintf("line %d", r.number) }
	var step *int64
	if r.stepAt >= 0 && r.stepAt < len(fields) {
		step = result.ParseStep(fields[r.stepAt])
	}
	given := false
	for i, column := range r.columns {
		if column < 0 || column >= len(fields) || fields[column] == "" {
			continue
		}
		value, ok := result.ParseNumber(fields[column])
		if !ok {
			r.problem("%s in column %s of %s is not a number", quote(fields[column]), quote(r.names[i]), at())
			continue
		}
		given = true
		r.give(i, value, step, at())
	}
	if given && step != nil {
		r.steps(step, at())
	}
}
