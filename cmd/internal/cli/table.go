package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Table is a table for people: spaces between columns, no lines, and control characters made
// visible. Columns stand in order of importance.
type Table struct {
	heads []string
	rows  [][]string
}

// NewTable returns a table without rows.
func NewTable(heads ...string) *Table { return &Table{heads: heads} }

// Add adds a row; the last cells may be missing.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// OmitEmpty leaves out the column of a head if none of the rows so far has anything in it.
func (t *Table) OmitEmpty(head string) {
	at := slices.Index(t.heads, head)
	if at < 0 || slices.ContainsFunc(t.rows, func(cells []string) bool {
		return at < len(cells) && cells[at] != ""
	}) {
		return
	}
	t.heads = slices.Delete(t.heads, at, at+1)
	for i, cells := range t.rows {
		if at < len(cells) {
			t.rows[i] = slices.Delete(cells, at, at+1)
		}
	}
}

// Lines returns the lines of the table, without the last columns where it would be wider than
// width; 0 is any width.
func (t *Table) Lines(width int) []string {
	for n := len(t.heads); ; n-- {
		rendered := t.render(n)
		if width == 0 || n <= 2 || text.LongestLineLen(rendered) <= width {
			return strings.Split(rendered, "\n")
		}
	}
}

// Write writes the whole table.
func (t *Table) Write(w io.Writer) error {
	_, err := fmt.Fprintln(w, t.render(len(t.heads)))
	return err
}

func (t *Table) render(columns int) string {
	w := table.NewWriter()
	s := table.StyleDefault
	s.Options = table.OptionsNoBordersAndSeparators
	s.Box.PaddingLeft, s.Box.PaddingRight = "", "  "
	s.Format.Header = text.FormatDefault
	w.SetStyle(s)
	w.SuppressTrailingSpaces()
	row := func(cells []string) (r table.Row) {
		for _, c := range cells[:min(columns, len(cells))] {
			r = append(r, Visible(c))
		}
		return r
	}
	w.AppendHeader(row(t.heads))
	for _, r := range t.rows {
		w.AppendRow(row(r))
	}
	return w.Render()
}
