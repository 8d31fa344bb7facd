// Package table makes tasks into a table of results.
//
// A [Row] is one task; rows are ranked by an objective, sorted, filtered, and written as text, CSV
// or JSON, one at a time where there are many.
//
// It is pure: no files, no network, no clock.
package table

import (
	"bufio"
	"io"
	"strconv"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"mlframework/sweep/internal/rawjson"
	"mlframework/sweep/metric"
)

// Row is one task of the results table. Its JSON names and their order are the contract of --json:
// every field is always present except infinite, steps, positions and value_attempts, which follow
// metrics if they are not empty. Absent texts, numbers and times (empty or nil here) are null;
// lists and objects are empty, never null. Text in JSON is unchanged; writers of text and CSV make
// control characters visible.
type Row struct {
	ID         string       `json:"id"` // "run_training-7/42"
	Sweep      string       `json:"sweep"`
	Definition string       `json:"definition"`
	Index      int64        `json:"index"` // of the point, from 0
	State      string       `json:"state"`
	Argv       []string     `json:"argv"`
	Parameters Parameters   `json:"parameters"`
	Metrics    metric.Final `json:"metrics"`
	Attempts   int          `json:"attempts"`
	Host       string       `json:"host"`
	Slot       *int         `json:"slot"`
	GPUs       []GPU        `json:"gpus"`
	Started    *time.Time   `json:"started"`  // RFC 3339, UTC
	Duration   *float64     `json:"duration"` // seconds
	ExitCode   *int         `json:"exit_code"`
	Class      string       `json:"class"` // how the newest attempt ended
	Reason     string       `json:"reason"`
	Revision   string       `json:"revision"`
}

// GPU is a GPU that a task had.
type GPU struct {
	UUID  string `json:"uuid"`
	Index string `json:"index"` // as nvidia-smi numbers it where its worker runs: "0", "0:1"
	Name  string `json:"name"`
}

// UUIDs returns the UUIDs of the task's GPUs.
func (r *Row) UUIDs() (all []string) {
	for _, g := range r.GPUs {
		all = append(all, g.UUID)
	}
	return all
}

// MarshalJSON writes the contract's fields in their order. [encoding/json.Unmarshal] reads them
// back.
func (r Row) MarshalJSON() ([]byte, error) { return r.appendJSON(nil), nil }

func (r *Row) appendJSON(b []byte) []byte {
	b = rawjson.AppendQuoted(append(b, `{"id":`...), r.ID)
	b = rawjson.AppendWord(append(b, `,"sweep":`...), r.Sweep)
	b = rawjson.AppendWord(append(b, `,"definition":`...), r.Definition)
	b = strconv.AppendInt(append(b, `,"index":`...), r.Index, 10)
	b = rawjson.AppendWord(append(b, `,"state":`...), r.State)
	b = rawjson.AppendList(append(b, `,"argv":`...), r.Argv)
	b = r.Parameters.appendJSON(append(b, `,"parameters":`...))
	b = r.Metrics.AppendJSON(append(b, `,"metrics":`...))
	if infinite := r.Metrics.Infinite(); infinite != nil {
		b = infinite.AppendJSON(append(b, `,"infinite":`...))
	}
	if steps := r.Metrics.Steps(); steps != nil {
		b = steps.AppendJSON(append(b, `,"steps":`...))
	}
	if positions := r.Metrics.Positions(); positions != nil {
		b = positions.AppendJSON(append(b, `,"positions":`...))
	}
	if attempts := r.Metrics.Attempts(); attempts != nil {
		b = attempts.AppendJSON(append(b, `,"value_attempts":`...))
	}
	b = strconv.AppendInt(append(b, `,"attempts":`...), int64(r.Attempts), 10)
	b = rawjson.AppendWord(append(b, `,"host":`...), r.Host)
	b = rawjson.AppendInt(append(b, `,"slot":`...), r.Slot)
	b = append(b, `,"gpus":[`...)
	for i, g := range r.GPUs {
		if i > 0 {
			b = append(b, ',')
		}
		b = rawjson.AppendQuoted(append(b, `{"uuid":`...), g.UUID)
		b = rawjson.AppendQuoted(append(b, `,"index":`...), g.Index)
		b = append(rawjson.AppendQuoted(append(b, `,"name":`...), g.Name), '}')
	}
	b = append(b, ']')
	b = append(b, `,"started":`...)
	if r.Started == nil {
		b = append(b, "null"...)
	} else {
		b = append(r.Started.UTC().AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
	}
	b = append(b, `,"duration":`...)
	if r.Duration == nil {
		b = append(b, "null"...)
	} else {
		b = rawjson.AppendNumber(b, *r.Duration)
	}
	b = rawjson.AppendInt(append(b, `,"exit_code":`...), r.ExitCode)
	b = rawjson.AppendWord(append(b, `,"class":`...), r.Class)
	b = rawjson.AppendWord(append(b, `,"reason":`...), r.Reason)
	b = rawjson.AppendWord(append(b, `,"revision":`...), r.Revision)
	return append(b, '}')
}

// WriteJSON writes one JSON object per line. There is no beginning and no end, so many rows may be
// written in batches. Characters that a terminal might obey are written as \u escapes.
func WriteJSON(w io.Writer, rows []Row) error {
	out := NewJSONWriter(w)
	for i := range rows {
		if err := out.Write(&rows[i]); err != nil {
			return err
		}
	}
	return out.Flush()
}

// JSONWriter writes rows as [WriteJSON] does, while they come. Not for concurrent use.
type JSONWriter struct {
	out  *bufio.Writer
	line []byte // memory of the last row's, used again
}

// NewJSONWriter returns a writer of rows.
func NewJSONWriter(w io.Writer) *JSONWriter {
	return &JSONWriter{out: bufio.NewWriterSize(w,
		64<<10)}
}

// Write writes one row.
func (w *JSONWriter) Write(r *Row) error {
	w.line = append(r.appendJSON(w.line[:0]), '\n')
	_, err := w.out.Write(asciiControls(w.line))
	return err
}

// Flush writes what is buffered.
func (w *JSONWriter) Flush() error { return w.out.Flush() }

// asciiControls escapes what is not printable in valid JSON. Below 0x20 encoding/json has done so;
// what is left is DEL, the C1 controls (U+009B begins a terminal code), and characters that turn or
// hide text.
func asciiControls(line []byte) []byte {
	const hex = "0123456789abcdef"
	for i := 0; ; i++ {
		if i == len(line) {
			return line
		}
		if line[i] >= 0x7f {
			break
		}
	}
	out := make([]byte, 0, len(line)+16)
	for len(line) > 0 {
		r, n := utf8.DecodeRune(line)
		if unicode.IsPrint(r) || r == '\n' {
			out = append(out, line[:n]...)
		} else {
			for _, u := range utf16.Encode([]rune{r}) {
				out = append(out, '\\', 'u', hex[u>>12], hex[u>>8&15], hex[u>>4&15], hex[u&15])
			}
		}
		line = line[n:]
	}
	return out
}
