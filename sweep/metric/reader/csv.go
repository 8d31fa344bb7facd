package reader

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"mlframework/sweep/metric"
)

// csvReader reads columns of a file with a header. Fields are separated by what the header has most
// of: commas, tabs or semicolons.
type csvReader struct {
	common
	lines
	separator byte
	header    []string
	columns   []int // of the names; -1: not there
	stepAt    int   // of the step; -1: there is none
	fields    []string
	quoted    []byte // lines of a field in quotes that goes on
	opened    int64  // line in which it began
}

// candidates are what may separate fields.
const candidates = ",\t;"

func (r *csvReader) IsDocument() bool { return false }

// Forget keeps the names, which are in the header.
func (r *csvReader) Forget() { r.problems, r.nans, r.step = nil, 0, nil }

func (r *csvReader) Problems() []string {
	if r.header == nil && !r.dead {
		return append(slices.Clone(r.problems), "has no header yet")
	}
	return r.missing("column")
}

func (r *csvReader) Write(p []byte) (int, error) {
	text, end := r.text(p)
	r.write(text, r.line)
	r.endBinary(end, "CSV")
	return len(p), nil
}

func (r *csvReader) Close(exited bool) {
	if r.dead {
		return
	}
	// What a program that exited left without an end is a line, unless fields are missing: then a
	// process of it was killed.
	if exited && len(r.pending) > 0 {
		record := string(r.quoted) + string(r.pending)
		if n, _ := scan(record, string(r.separator), false); r.header == nil ||
			n >= len(r.header)-1 {
			r.end(r.line)
		}
	}
	if len(r.quoted) > 0 {
		r.problem("a quote in line %d never ends: what follows is left out", r.opened)
	}
}

func (r *csvReader) line(line []byte, complete bool) {
	if !complete {
		if len(r.quoted) > 0 {
			r.problem("a quote in line %d never ends: lines are left out", r.opened)
		}
		r.quoted = r.quoted[:0]
		r.problem("line %d is longer than %d bytes and is left out", r.number, maxLineBytes)
		return
	}
	separators := string(r.separator)
	if r.header == nil {
		separators = candidates
		if len(r.quoted) == 0 {
			line = bytes.TrimPrefix(line, []byte("\uFEFF"))
		}
	}
	if _, open := scan(string(line), separators, len(r.quoted) > 0); open {
		// A field in quotes goes on in the next line, unless it never ends.
		if len(r.quoted) == 0 {
			r.opened = r.number
		}
		if len(r.quoted)+len(line) < maxLineBytes {
			r.quoted = append(append(r.quoted, line...), '\n')
			return
		}
		r.problem("a quote in line %d never ends: lines are left out", r.opened)
		r.quoted = r.quoted[:0]
	}
	if len(r.quoted) > 0 {
		line = append(r.quoted, line...)
		r.quoted = r.quoted[:0]
	}
	switch {
	case len(bytes.TrimSpace(line)) == 0:
	case r.header == nil:
		r.begin(string(line))
	default:
		r.record(string(line))
	}
}

// begin reads the header.
func (r *csvReader) begin(line string) {
	most := -1
	for i := range len(candidates) {
		if n, _ := scan(line, candidates[i:i+1], false); n > most {
			r.separator, most = candidates[i], n
		}
	}
	r.header = slices.Clone(r.split(line))
	r.stepAt = -1
	for i, name := range r.header {
		r.header[i] = strings.Clone(name)
		r.noteName(name)
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

// scan counts the separators outside of quotes, and reports whether the last field goes on in the
// next line; quoted tells that the first one began before. A quote opens a field only at its
// beginning: in 12" it is text. The field method cuts by the same rules.
func scan(line, separators string, quoted bool) (n int, open bool) {
	begins := !quoted
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '"' && i+1 < len(line) && line[i+1] == '"':
			i++
		case quoted:
			quoted = c != '"'
		case strings.IndexByte(separators, c) >= 0:
			n++
			begins = true
		case c == '"' && begins:
			quoted, begins = true, false
		case c != ' ':
			begins = false
		}
	}
	return n, quoted
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
		step = metric.ParseStep(fields[r.stepAt])
	}
	given := false
	for i, column := range r.columns {
		if column < 0 || column >= len(fields) || fields[column] == "" {
			continue
		}
		value, ok := metric.ParseNumber(fields[column])
		if !ok {
			if !r.full() {
				r.problem("\"%s\" in column %s of %s is not a number", r.masked(fields[column]),
					quote(r.names[i]), at())
			}
			continue
		}
		given = true
		r.give(i, value, step, at())
	}
	if given && step != nil {
		r.steps(step, at())
	}
}
