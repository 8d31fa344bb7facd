package table

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"mlframework/sweep/expr"
	"mlframework/sweep/human"
)

// AbsentText is what tables for people have where a value is absent.
const AbsentText = absentText

// GridColumn is a column of a [Grid]. The zero value is a column of no worth whose numbers stand to
// the right if it has nothing else.
type GridColumn struct {
	Name     string
	Worth    int  // columns of less worth are left out before others where the table is too wide
	Keep     bool // it is never left out, and never moved to the line above
	Number   bool // it stands to the right, whatever its texts are
	Optional bool // it is left out where it is empty in all rows
	// where all rows have the same, it is moved to the line above: of several rows also where the
	// table has room, and of a single one where it has not
	Fold bool
	// where the table is too wide its texts stand below their rows; one column at most
	Long bool
}

// Grid is a table for people of something else than tasks. A table wider than its width gives way
// as that of a [TextWriter] does.
type Grid struct {
	width   int
	columns []GridColumn
	shown   []*textColumn
	rows    [][]string
}

// NewGrid returns a table that is at most width columns wide; 0 is no limit.
func NewGrid(width int, columns ...GridColumn) *Grid {
	g := &Grid{width: width, columns: columns}
	for i := range columns {
		g.shown = append(g.shown, &textColumn{slot: i})
	}
	return g
}

// Add takes a row, with a text for each column. Texts that a terminal might obey are made visible.
func (g *Grid) Add(cells ...string) {
	for i, text := range cells {
		text = human.Visible(text)
		kind := expr.ValueOf(text).Kind
		if g.columns[i].Number {
			kind = number
		}
		if text == absentText {
			kind = absent
		}
		cells[i] = text
		g.shown[i].add(kind, text)
	}
	g.rows = append(g.rows, cells)
}

// Write writes the table, which is complete.
func (g *Grid) Write(w io.Writer) error {
	l, below := g.layout()
	l.fit(g.width)
	out := bufio.NewWriter(w)
	writeLines(out, l.above(g.width)) // out keeps the first error
	shown := l.shown()
	line := tableLine{}
	for _, c := range shown {
		line.cell(c, c.name)
	}
	_, _ = out.Write(line.end(nil))
	for _, row := range g.rows {
		for _, c := range shown {
			line.cell(c, row[c.slot])
		}
		_, _ = out.Write(line.end(nil))
		if below != nil {
			writeLines(out, wrap("  ", strings.Fields(row[below.slot]), " ", g.width))
		}
	}
	writeLines(out, l.below(g.width))
	return out.Flush()
}

// layout returns the columns that are there, and which of them stands below the rows; nil: none.
func (g *Grid) layout() (l *layout, below *textColumn) {
	l = &layout{rows: int64(len(g.rows))}
	for i, c := range g.columns {
		if c.Optional && g.shown[i].value == "" {
			continue
		}
		worth := worth(c.Worth)
		g.shown[i].fold = c.Fold
		if g.shown[i].keep = c.Keep; c.Keep {
			worth = essential
		}
		if l.show(g.shown[i], c.Name, worth); c.Long {
			below = g.shown[i]
		}
	}
	if l.rows > 1 {
		l.fold(func(t *textColumn) bool { return t.fold })
	}
	if g.width <= 0 || l.width() <= g.width {
		return l, nil
	}
	l.columns = slices.DeleteFunc(l.columns, func(t *textColumn) bool { return t == below })
	return l, below
}

// above returns what is the same in all rows, where that was moved out of the table.
func (l *layout) above(width int) []string { return wrap("same for all: ", l.folded, "  ", width) }

// below says what is left out of the table.
func (l *layout) below(width int) []string {
	hidden := l.hidden()
	if len(hidden) == 0 {
		return nil
	}
	return wrap("not shown: ", append(hidden, "(see", "--csv,", "--json", "or", "a", "wider",
		"terminal)"), " ", width)
}

// WriteJSONLine writes one value as a line of JSON. Characters that a terminal might obey are
// written as \u escapes; < > & stay as they are.
func WriteJSONLine(w io.Writer, v any) error {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(asciiControls(line.Bytes()))
	return err
}
