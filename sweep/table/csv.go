package table

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"mlframework/sweep/human"
	"mlframework/sweep/metric"
)

// CSVWriter writes rows as CSV (RFC 4180, lines end with \n) while they come. Not for concurrent
// use.
type CSVWriter struct {
	out     *csv.Writer
	columns []column
	record  []string
	begun   bool
}

// NewCSVWriter returns a writer of all columns of a schema, named and ordered as in its header: id
// to state, parameters, metrics, and the rest. Numbers are in full, times RFC 3339 in UTC, what is
// absent is empty, what is not a number is nan, what is infinite inf or -inf, argv is a shell's
// command line. Text that a spreadsheet would take for a formula, also one that splits at ; or tab,
// gets a ' in front; control characters are made visible. The exact text of everything is in JSON.
func NewCSVWriter(w io.Writer, s Schema) *CSVWriter {
	columns := s.columns()
	return &CSVWriter{out: csv.NewWriter(w), columns: columns, record: make([]string, len(columns))}
}

// Write writes one row, before the first one the header.
func (w *CSVWriter) Write(r *Row) error {
	if err := w.begin(); err != nil {
		return err
	}
	for i, c := range w.columns {
		value := c.get(r)
		w.record[i] = value.String()
		// -inf of a metric is not a formula, that of a parameter may be anything
		if value.Kind != number || value.Text != "" {
			w.record[i] = csvText(w.record[i])
		}
	}
	return w.out.Write(w.record)
}

// Flush writes what is buffered, and the header if there was no row.
func (w *CSVWriter) Flush() error {
	if err := w.begin(); err != nil {
		return err
	}
	w.out.Flush()
	return w.out.Error()
}

func (w *CSVWriter) begin() error {
	if w.begun {
		return nil
	}
	w.begun = true
	for i, c := range w.columns {
		w.record[i] = csvText(c.name)
	}
	return w.out.Write(w.record)
}

// CSVText returns text as a CSVWriter writes it: visible, and no formula.
func CSVText(text string) string { return csvText(text) }

// csvText makes control characters visible and disarms formulas: those at the beginning, and those
// behind a `;`, where spreadsheets of many countries begin a cell. A tab or line end is harmless
// once it is visible.
func csvText(text string) string {
	text = human.Visible(text)
	first, rest, more := strings.Cut(text, ";")
	if !more {
		return disarmed(text, true)
	}
	var b strings.Builder
	b.WriteString(disarmed(first, false)) // where cells end at commas, this one is not a number
	for more {
		var piece string
		piece, rest, more = strings.Cut(rest, ";")
		// the last piece goes on with the next field: it is not known to be a number
		b.WriteString(";" + disarmed(piece, more))
	}
	return b.String()
}

// disarmed puts a ' before text that begins as a formula does; numbers may stay as they are.
// Quotation marks in front are looked through: written as CSV, within a field, they are empty
// quotes where a cell begins.
func disarmed(text string, numbers bool) string {
	if !formula(strings.TrimLeft(text, `"`)) {
		return text
	}
	if v, err := strconv.ParseFloat(text, 64); numbers && err == nil && metric.IsFinite(v) {
		return text
	}
	return "'" + text
}

// formula reports whether text begins as one: OWASP's list of first characters, with the full-width
// forms that spreadsheets take for the same.
func formula(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return strings.ContainsRune("=+-@\uFF1D\uFF0B\uFF0D\uFF20", first)
}
