package result

import (
	"bufio"
	"io"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Row is one task of the results table. Its JSON names and their order are the contract of --json: every field is always
// there; texts, numbers and times that are absent (empty or nil here) are null, lists and objects are empty, never null.
// Text in JSON is as it is; writers of text and CSV make control characters visible.
type Row struct {
	ID         string     `json:"id"` // "run_training-7/42"
	Sweep      string     `json:"sweep"`
	Definition string     `json:"definition"`
	Index      int64      `json:"index"` // of the point, from 0
	State      string     `json:"state"`
	Argv       []string   `json:"argv"`
	Parameters Parameters `json:"parameters"`
	Metrics    Final      `json:"metrics"`
	Attempts   int        `json:"attempts"`
	Host       string     `json:"host"`
	Slot       *int       `json:"slot"`
	GPUs       []string   `json:"gpus"`     // UUIDs
	Started    *time.Time `json:"started"`  // RFC 3339, UTC
	Duration   *float64   `json:"duration"` // seconds
	ExitCode   *int       `json:"exit_code"`
	Reason     string     `json:"reason"`
	Revision   string     `json:"revision"`
}

// rowWire is Row where empty text is null.
type rowWire struct {
	ID         string     `json:"id"`
	Sweep      *string    `json:"sweep"`
	Definition *string    `json:"definition"`
	Index      int64      `json:"index"`
	State      *string    `json:"state"`
	Argv       []string   `json:"argv"`
	Parameters Parameters `json:"parameters"`
	Metrics    Final      `json:"metrics"`
	Attempts   int        `json:"attempts"`
	Host       *string    `json:"host"`
	Slot       *int       `json:"slot"`
	GPUs       []string   `json:"gpus"`
	Started    *time.Time `json:"started"`
	Duration   *float64   `json:"duration"`
	ExitCode   *int       `json:"exit_code"`
	Reason     *string    `json:"reason"`
	Revision   *string    `json:"revision"`
}

// MarshalJSON writes the contract's fields in their order. [encoding/json.Unmarshal] reads them back.
func (r Row) MarshalJSON() ([]byte, error) {
	w := rowWire{
		ID: r.ID, Sweep: textOrNull(r.Sweep), Definition: textOrNull(r.Definition), Index: r.Index,
		State: textOrNull(r.State), Argv: list(r.Argv), Parameters: r.Parameters, Metrics: r.Metrics,
		Attempts: r.Attempts, Host: textOrNull(r.Host), Slot: r.Slot, GPUs: list(r.GPUs), Duration: r.Duration,
		ExitCode: r.ExitCode, Reason: textOrNull(r.Reason), Revision: textOrNull(r.Revision),
	}
	if r.Started != nil {
		utc := r.Started.UTC()
		w.Started = &utc
	}
	if r.Duration != nil && !isFinite(*r.Duration) {
		w.Duration = nil
	}
	if w.Parameters == nil {
		w.Parameters = Parameters{}
	}
	if w.Metrics == nil {
		w.Metrics = Final{}
	}
	return marshalJSON(w)
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func list(l []string) []string {
	if l == nil {
		return []string{}
	}
	return l
}

// WriteJSON writes one JSON object per line. There is no beginning and no end, so many rows may be written in batches.
// Characters that a terminal might obey are written as \u escapes.
func WriteJSON(w io.Writer, rows []Row) error {
	out := bufio.NewWriterSize(w, 64<<10)
	for i := range rows {
		line, err := rows[i].MarshalJSON()
		if err != nil {
			return err
		}
		if _, err := out.Write(append(asciiControls(line), '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}

// asciiControls escapes what is not printable in valid JSON. Below 0x20 encoding/json has done so; what is left is DEL,
// the C1 controls (U+009B begins a terminal code), and characters that turn or hide text.
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
		if unicode.IsPrint(r) {
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
