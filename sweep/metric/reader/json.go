package reader

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mlframework/sweep/metric"
)

// maxDocumentBytes is how long a JSON document of several lines may be.
const maxDocumentBytes = 16 << 20

// jsonReader reads keys of a JSON document, or of one on each line. Which it is the first line
// tells: a document of its own, or the beginning of one.
type jsonReader struct {
	common
	lines
	byLine   bool   // a second line of its own came
	one      bool   // the first line is a document of its own
	document []byte // everything so far, where the first line is none
	tooLong  bool
}

// IsDocument reports that a file is one document: until a second line comes, or the first has ended
// as one.
func (r *jsonReader) IsDocument() bool { return !r.byLine }

func (r *jsonReader) Problems() []string {
	if !r.dead && !r.one && !r.byLine && r.others == nil && len(r.problems) == 0 {
		return []string{"holds no complete JSON document"}
	}
	return r.missing("key")
}

func (r *jsonReader) Write(p []byte) (int, error) {
	rest, end := r.text(p)
	defer func() { r.endBinary(end, "JSON") }()
	switch {
	case r.document != nil:
		r.add(rest)
	default:
		for len(rest) > 0 && r.document == nil {
			n := bytes.IndexByte(rest, '\n') + 1
			if n == 0 {
				n = len(rest)
			}
			// too long for a line: a document may be longer
			if r.number == 0 && len(r.pending)+n > maxLineBytes {
				r.document = slices.Clone(r.pending)
				break
			}
			r.write(rest[:n], r.line)
			rest = rest[n:]
		}
		if r.document != nil {
			r.add(rest)
		}
	}
	return len(p), nil
}

func (r *jsonReader) add(p []byte) {
	if room := maxDocumentBytes - len(r.document); len(p) > room {
		p, r.tooLong = p[:room], true
	}
	r.document = append(r.document, p...)
}

func (r *jsonReader) Close(bool) {
	switch {
	case r.dead:
	case r.tooLong:
		r.dead = true
		r.problem("is longer than %d MiB and not JSON lines", maxDocumentBytes>>20)
	case r.document != nil:
		if value, ok := parse(r.document); ok {
			r.collect(value, "the document")
		} else {
			r.tryLines()
		}
	case len(r.pending) > 0 && !r.cut:
		if value, ok := parse(r.pending); ok {
			r.one = true
			r.collect(value, "the last line")
		}
	}
}

func (r *jsonReader) line(line []byte, complete bool) {
	if len(bytes.TrimSpace(line)) == 0 {
		if r.number == 1 {
			r.number = 0
		}
		return
	}
	if !complete {
		r.problem("line %d is longer than %d bytes and is left out", r.number, maxLineBytes)
		return
	}
	value, ok := parse(line)
	switch {
	case !ok && r.number == 1 && !opens(line):
		r.byLine = true // a document with keys begins otherwise
		r.notJSON(line)
		return
	case !ok && r.number == 1:
		r.document = append(slices.Clone(line), '\n')
		return
	case !ok:
		r.notJSON(line)
		return
	case r.one:
		r.byLine = true
	}
	r.one = true
	r.collect(value, fmt.Sprintf("line %d", r.number))
}

// tryLines looks whether what is no document is JSON lines whose first was cut off: most of them
// are objects then.
func (r *jsonReader) tryLines() {
	objects, others := 0, 0
	each := func(line []byte) bool {
		value, ok := parse(line)
		_, object := value.(map[string]any)
		return ok && object
	}
	for line := range bytes.Lines(r.document) {
		switch {
		case len(bytes.TrimSpace(line)) == 0:
		case each(line):
			objects++
		default:
			others++
		}
	}
	if objects < others || objects == 0 {
		return
	}
	r.number = 0
	for line := range bytes.Lines(r.document) {
		r.number++
		switch value, ok := parse(line); {
		case ok:
			r.collect(value, fmt.Sprintf("line %d", r.number))
		case len(bytes.TrimSpace(line)) > 0:
			r.notJSON(bytes.TrimSpace(line))
		}
	}
}

// opens reports whether a document can begin so.
func opens(line []byte) bool {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, bom))
	return len(line) > 0 && (line[0] == '{' || line[0] == '[')
}

var bom = []byte("\uFEFF")

func (r *jsonReader) notJSON(line []byte) {
	if !r.full() {
		r.problem("line %d is not JSON: \"%s\"", r.number, r.masked(string(line)))
	}
}

// parse reads JSON, also with Python's NaN and Infinity.
func parse(text []byte) (value any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(metric.PlainJSON(bytes.TrimPrefix(text, bom))))
	d.UseNumber()
	if d.Decode(&value) != nil || d.More() {
		return nil, false
	}
	return value, true
}

func (r *jsonReader) collect(document any, at string) {
	r.list("", document, 0)
	var step *int64
	if object, ok := document.(map[string]any); ok {
		if n, ok := object["step"].(json.Number); ok {
			step = metric.ParseStep(n.String())
		}
	}
	given := false
	for i, name := range r.names {
		value, ok := get(document, name)
		if !ok {
			continue
		}
		r.seen[i] = true
		if list, ok := value.([]any); ok {
			for n, element := range list {
				given = r.single(i, element, nil, fmt.Sprintf("element %d of %s", n+1, at)) || given
			}
			continue
		}
		given = r.single(i, value, step, at) || given
	}
	if given {
		r.steps(step, at)
	}
}

func (r *jsonReader) single(name int, value any, step *int64, at string) bool {
	switch v := value.(type) {
	case json.Number:
		if n, ok := metric.ParseNumber(v.String()); ok {
			r.give(name, n, step, at)
			return true
		}
	case nil:
		r.give(name, math.NaN(), step, at)
		return true
	}
	if r.full() {
		return false
	}
	text := "a list"
	switch v := value.(type) {
	case json.Number: // out of range
		text = r.masked(v.String())
	case string:
		text = `"` + r.masked(v) + `"`
	case bool:
		text = strconv.FormatBool(v)
	case map[string]any:
		text = "an object"
	}
	r.problem("%s at key %s of %s is not a number", text, quote(r.names[name]), at)
	return false
}

// get follows a dotted name; a key that has dots itself is found, too.
func get(value any, name string) (any, bool) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, false
	}
	if v, ok := object[name]; ok {
		return v, true
	}
	for at, c := range name {
		if c == '.' {
			if inner, ok := object[name[:at]]; ok {
				if v, ok := get(inner, name[at+1:]); ok {
					return v, true
				}
			}
		}
	}
	return nil, false
}

// list notes the keys that hold numbers.
func (r *jsonReader) list(prefix string, value any, depth int) {
	switch v := value.(type) {
	case map[string]any:
		if depth > 8 {
			return
		}
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			if r.more {
				return
			}
			r.list(strings.TrimPrefix(prefix+"."+key, "."), v[key], depth+1)
		}
	case json.Number, nil, []any:
		if prefix != "" {
			r.noteName(prefix)
		}
	}
}
