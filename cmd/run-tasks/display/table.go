package display

import (
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"mlframework/cmd/internal/cli"
)

// Table is a table without lines, its columns as wide as they need to be.
type Table struct{ table.Writer }

func NewTable(header ...string) Table {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	g := Table{t}
	t.AppendHeader(cells(header))
	return g
}

func (g Table) Add(values ...string) { g.AppendRow(cells(values)) }

func cells(values []string) (row table.Row) {
	for _, v := range values {
		row = append(row, cli.Visible(v))
	}
	return row
}

func (g Table) Write(w io.Writer) error {
	_, err := io.WriteString(w, g.Render()+"\n")
	return err
}
