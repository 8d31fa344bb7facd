package table

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"strconv"

	"mlframework/sweep/expr"
)

// TextWriter writes rows as a table for people: one header, one line per row, columns named as for
// [Sort] and [Filter]. Numbers have at most six digits, "-" is absent, "no metrics" a succeeded
// task that never printed the objective.
//
// A table wider than its Width gives way in this order: what is the same in all rows moves to a
// line above; the id becomes the index; columns of little worth are left out, named in a line
// below; what is left is cut with "…".
//
// How wide columns are is known after the last row only: until then the text of the cells is set
// aside, nothing else is kept of a row. Not for concurrent use.
type TextWriter struct {
	o     TableOptions
	aside Spool

	written, longest int64 // bytes set aside, and of a row at most
	rows, succeeded  int64
	sweep            string // of all rows so far
	severalSweeps    bool

	parameters, metrics *nameList
	slots               []*textColumn
	fixed               []column // with the first slots
	ofParameter         []int    // slots, in the order of the names
	ofMetric            []int
	index               int // its slot
	record              []byte
	cells               []string
	kinds               []expr.Kind // of cells
}

// Spool sets text aside. Written is called once, after everything was written, and gives it back.
type Spool interface {
	io.Writer
	Written() (io.ReaderAt, error)
}

// Memory is a Spool without bounds. The zero value is empty.
type Memory struct{ bytes.Buffer }

// Written gives back what was written.
func (m *Memory) Written() (io.ReaderAt, error) { return bytes.NewReader(m.Bytes()), nil }

// WriteText writes rows as a [TextWriter] does.
func WriteText(w io.Writer, rows []Row, o TableOptions) error {
	t := NewTextWriter(o, &Memory{})
	for i := range rows {
		if err := t.Write(&rows[i]); err != nil {
			return err
		}
	}
	return t.Flush(w)
}

// NewTextWriter returns a writer that sets aside in a spool of its own.
func NewTextWriter(o TableOptions, aside Spool) *TextWriter {
	t := &TextWriter{o: o, aside: aside, parameters: newNameList(nil), metrics: newNameList(nil)}
	for _, c := range fixed {
		if _, shown := shownFixed[c.name]; shown {
			t.fixed = append(t.fixed, c)
			t.slot()
		}
	}
	t.index = t.slot()
	for _, name := range o.Schema.Parameters {
		t.parameter(-1, name)
	}
	for _, name := range o.Schema.Metrics {
		t.metric(-1, name)
	}
	return t
}

// Rows returns how many rows were written.
func (t *TextWriter) Rows() int64 { return t.rows }

const (
	absentText    = "-"
	noMetricsText = "no metrics"
)

func (t *TextWriter) slot() int {
	t.slots = append(t.slots, &textColumn{slot: len(t.slots)})
	return len(t.slots) - 1
}

// parameter returns the slot of a parameter, which may be new.
func (t *TextWriter) parameter(position int, name string) int {
	at := t.parameters.add(position, name)
	if at == len(t.ofParameter) {
		t.ofParameter = append(t.ofParameter, t.slot())
		if t.rows > 0 {
			t.slots[t.ofParameter[at]].add(absent, absentText)
		}
	}
	return t.ofParameter[at]
}

// metric returns the slot of a metric, which may be new.
func (t *TextWriter) metric(position int, name string) int {
	at := t.metrics.add(position, name)
	if at < len(t.ofMetric) {
		return t.ofMetric[at]
	}
	slot := t.slot()
	t.ofMetric = append(t.ofMetric, slot)
	without := int64(0)
	if name == t.o.Objective.Metric {
		without = t.succeeded
	}
	if without > 0 {
		t.slots[slot].add(absent, noMetricsText)
	}
	if t.rows > without {
		t.slots[slot].add(absent, absentText)
	}
	return slot
}

// missing returns the text of a cell of which the row knew nothing.
func (t *TextWriter) missing(slot int, state string) string {
	if state == succeeded && slices.Contains(t.ofMetric, slot) &&
		t.metrics.names[slices.Index(t.ofMetric, slot)] == t.o.Objective.Metric {
		return noMetricsText
	}
	return absentText
}

// Write takes the next row.
func (t *TextWriter) Write(r *Row) error {
	for i, p := range r.Parameters {
		t.parameter(i, p.Name)
	}
	for i, m := range r.Metrics {
		t.metric(i, m.Name)
	}
	t.record = binary.AppendUvarint(t.record[:0], uint64(len(t.slots)))
	for i, c := range t.fixed {
		var v cell
		if c.name != "started" {
			v = c.get(r)
		} else if r.Started != nil {
			v.Kind = word // its text here is another
		}
		t.put(i, v.Kind, t.o.textOf(c.name, r, v))
	}
	t.put(t.index, number, strconv.FormatInt(r.Index, 10))
	t.cells = slices.Grow(t.cells[:0], len(t.slots))[:len(t.slots)]
	kinds := slices.Grow(t.kinds[:0], len(t.slots))[:len(t.slots)]
	clear(t.cells)
	clear(kinds)
	t.kinds = kinds
	for i, p := range r.Parameters {
		v := expr.ValueOf(p.Value)
		slot := t.parameter(i, p.Name)
		kinds[slot], t.cells[slot] = v.Kind, t.o.textOf("", r, v)
	}
	for i, m := range r.Metrics {
		v := expr.NumberOf(m.Value)
		slot := t.metric(i, m.Name)
		kinds[slot], t.cells[slot] = v.Kind, t.o.textOf("", r, v)
		if m.Span != nil && slices.Contains(t.o.Schema.Steps, m.Name) {
			t.cells[slot] += " (" + m.Span.String() + ")"
		} else if m.Span != nil && m.Span.Attempt != 0 {
			t.cells[slot] += " (" + m.Span.AttemptText() + ")"
		}
	}
	for slot := t.index + 1; slot < len(t.slots); slot++ {
		text := t.cells[slot]
		if kinds[slot] == absent {
			text = t.missing(slot, r.State)
		}
		t.put(slot, kinds[slot], text)
	}
	t.count(r)
	if t.o.Order != nil {
		t.o.Order.Add(r, t.written)
	}
	t.written, t.longest = t.written+int64(len(t.record)), max(t.longest, int64(len(t.record)))
	_, err := t.aside.Write(t.record)
	return err
}

func (t *TextWriter) put(slot int, k expr.Kind, text string) {
	t.slots[slot].add(k, text)
	t.record = append(binary.AppendUvarint(t.record, uint64(len(text))), text...)
}

func (t *TextWriter) count(r *Row) {
	if t.rows == 0 {
		t.sweep = r.Sweep
	}
	t.severalSweeps = t.severalSweeps || r.Sweep != t.sweep
	t.rows++
	if r.State == succeeded {
		t.succeeded++
	}
}

// Flush writes the table, which is complete.
func (t *TextWriter) Flush(w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	if t.rows == 0 {
		_, _ = out.WriteString("no tasks\n")
		return out.Flush()
	}
	l := t.layout()
	l.fit(t.o.Width)
	writeLines(out, l.above(t.o.Width)) // out keeps the first error
	if err := t.table(out, l.shown()); err != nil {
		return err
	}
	writeLines(out, l.below(t.o.Width))
	return out.Flush()
}

func writeLines(out *bufio.Writer, lines []string) {
	for _, line := range lines {
		_, _ = out.WriteString(line + "\n")
	}
}

// layout puts the columns in the order of CSV, the objective first among the metrics.
func (t *TextWriter) layout() *layout {
	l := &layout{rows: t.rows, sweep: t.sweep, index: t.slots[t.index]}
	if t.severalSweeps {
		l.sweep = ""
	}
	s := Schema{Parameters: t.parameters.names, Metrics: slices.Clone(t.metrics.names)}
	slots := slices.Clone(t.ofMetric)
	if i := slices.Index(s.Metrics, t.o.Objective.Metric); i > 0 {
		s.Metrics = slices.Insert(slices.Delete(s.Metrics, i, i+1), 0, t.o.Objective.Metric)
		slots = slices.Insert(slices.Delete(slots, i, i+1), 0, t.ofMetric[i])
	}
	fixed := t.slots[:len(t.fixed)]
	for i, c := range s.columns() {
		metric := i - columnsBefore - len(s.Parameters)
		switch {
		case i >= columnsBefore && metric < 0:
			l.show(t.slots[t.ofParameter[i-columnsBefore]], c.name, worthParameter)
		case metric >= 0 && metric < len(s.Metrics):
			column := t.slots[slots[metric]]
			column.keep = s.Metrics[metric] == t.o.Objective.Metric
			l.show(column, c.name, map[bool]worth{false: worthMetric, true: essential}[column.keep])
		default:
			if w, shown := shownFixed[c.name]; shown {
				fixed[0].keep = c.name == "id"
				l.show(fixed[0], c.name, w)
				fixed = fixed[1:]
			}
		}
	}
	return l
}

// table writes header and rows.
func (t *TextWriter) table(out *bufio.Writer, shown []*textColumn) error {
	header := tableLine{}
	for _, c := range shown {
		header.cell(c, c.name)
	}
	_, _ = out.Write(header.end(nil))
	aside, err := t.aside.Written()
	if err != nil {
		return err
	}
	if t.o.Order == nil {
		lines := t.lines(aside, shown, 64<<10)
		var text []byte
		for range t.rows {
			if text, err = lines.next(text[:0]); err != nil {
				return err
			}
			_, _ = out.Write(text)
		}
		return nil
	}
	return t.ordered(out, aside, shown)
}
