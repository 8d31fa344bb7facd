package table

import (
	"bufio"
	"encoding/binary"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// chunk is how many lines a goroutine makes at a time.
const chunk = 1 << 10

// ordered writes the rows in the order that was asked for, several chunks of them at a time.
func (t *TextWriter) ordered(out *bufio.Writer, aside io.ReaderAt, shown []*textColumn) error {
	workers := make([]*lineReader, min(runtime.GOMAXPROCS(0), 4))
	texts, errs := make([][]byte, len(workers)), make([]error, len(workers))
	for i := range workers {
		workers[i] = t.lines(aside, shown, int(t.longest))
	}
	chunks := slices.Collect(slices.Chunk(t.o.Order.Sorted(), chunk))
	for len(chunks) > 0 {
		n := min(len(workers), len(chunks))
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() { texts[i], errs[i] = workers[i].at(chunks[i], texts[i][:0]) })
		}
		all.Wait()
		for i := range n {
			if errs[i] != nil {
				return errs[i]
			}
			_, _ = out.Write(texts[i]) // out keeps the first error
		}
		chunks = chunks[n:]
	}
	return nil
}

// lineReader makes lines of rows that were set aside. Several may read at the same time.
type lineReader struct {
	t      *TextWriter
	shown  []*textColumn
	text   *io.SectionReader
	in     *bufio.Reader
	record []byte
	cells  []string
	line   tableLine
}

func (t *TextWriter) lines(aside io.ReaderAt, shown []*textColumn, buffer int) *lineReader {
	text := io.NewSectionReader(aside, 0, t.written)
	return &lineReader{t: t, shown: shown, text: text, in: bufio.NewReaderSize(text, buffer),
		cells: make([]string, len(t.slots))}
}

// at appends the lines of the rows that were written at these places.
func (r *lineReader) at(places []int64, text []byte) (_ []byte, err error) {
	for _, at := range places {
		_, _ = r.text.Seek(at, io.SeekStart)
		r.in.Reset(r.text)
		if text, err = r.next(text); err != nil {
			return text, err
		}
	}
	return text, nil
}

// next appends the line of the next row. Numbers stand to the right.
func (r *lineReader) next(text []byte) ([]byte, error) {
	if err := r.restore(); err != nil {
		return text, err
	}
	for _, c := range r.shown {
		r.line.cell(c, r.cells[c.slot])
	}
	return r.line.end(text), nil
}

// restore reads the cells of the next row.
func (r *lineReader) restore() error {
	known, err := binary.ReadUvarint(r.in)
	if err != nil {
		return err
	}
	for slot := range r.cells {
		if slot >= int(known) {
			r.cells[slot] = r.t.missing(slot, r.cells[stateSlot])
			continue
		}
		n, err := binary.ReadUvarint(r.in)
		if err != nil {
			return err
		}
		r.record = slices.Grow(r.record[:0], int(n))[:n]
		if _, err := io.ReadFull(r.in, r.record); err != nil {
			return err
		}
		if r.cells[slot] != string(r.record) { // most are as in the row before
			r.cells[slot] = string(r.record)
		}
	}
	return nil
}

// stateSlot is the slot of the state, the second of the fixed columns that are shown.
const stateSlot = 1

// tableLine is one line of a table, made cell by cell.
type tableLine struct {
	text  []byte
	blank int // spaces before the next text: a line has none at its end
}

func (l *tableLine) cell(c *textColumn, value string) {
	value = cutText(value, c.width)
	space := max(0, c.width-displayWidth(value))
	if c.numeric() {
		l.blank += space
		space = 0
	}
	if text := strings.TrimRight(value, " "); text != "" {
		for ; l.blank > 0; l.blank-- {
			l.text = append(l.text, ' ')
		}
		l.text = append(l.text, text...)
		space += len(value) - len(text)
	} else {
		space += len(value)
	}
	l.blank += space + gap
}

// end appends the line to a text, and begins the next.
func (l *tableLine) end(text []byte) []byte {
	text = append(append(text, l.text...), '\n')
	l.text, l.blank = l.text[:0], 0
	return text
}
