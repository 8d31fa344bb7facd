package result

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// TableOptions say how a table of text looks. The zero value shows everything, times in UTC.
type TableOptions struct {
	Width     int            // columns of the terminal; 0 is no limit
	Objective Objective      // its metric comes first and is never left out
	Schema    Schema         // columns to show beside those of the rows themselves
	Location  *time.Location // of times; nil is UTC
}

// WriteText writes rows as a table for people: one header, one line per row, columns named as for [Sort] and [Where].
// Numbers have at most six digits, "-" is absent, "no metrics" a succeeded task that never printed the objective.
//
// A table wider than Width gives way in this order: what is the same in all rows moves to a line above; the id becomes the
// index; columns of little worth are left out, named in a line below; what is left is cut with "…".
func WriteText(w io.Writer, rows []Row, o TableOptions) error {
	if len(rows) == 0 {
		_, err := io.WriteString(w, "no tasks\n")
		return err
	}
	l := newLayout(rows, o)
	l.fit(o.Width)
	var b strings.Builder
	for _, line := range wrap("in all: ", l.folded, "  ", o.Width) {
		b.WriteString(line + "\n")
	}
	b.WriteString(l.render())
	b.WriteString("\n")
	if hidden := l.hidden(); len(hidden) > 0 {
		words := append(hidden, "(see", "--csv,", "--json", "or", "a", "wider", "terminal)")
		for _, line := range wrap("not shown: ", words, " ", o.Width) {
			b.WriteString(line + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// wrap joins words to lines of at most width columns, the first with a prefix; nothing for no words.
func wrap(prefix string, words []string, between string, width int) []string {
	if len(words) == 0 {
		return nil
	}
	lines := []string{prefix + words[0]}
	for _, word := range words[1:] {
		last := &lines[len(lines)-1]
		if width > 0 && displayWidth(*last)+len(between)+displayWidth(word) > width {
			lines = append(lines, "  "+word)
			continue
		}
		*last += between + word
	}
	return lines
}

func displayWidth(s string) int { return text.StringWidthWithoutEscSequences(s) }

// render makes the table of what is shown.
func (l *layout) render() string {
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", strings.Repeat(" ", gap)
	style.Format.Header = text.FormatDefault
	t := table.NewWriter()
	t.SetStyle(style)
	t.SuppressTrailingSpaces()

	shown := l.shown()
	header := make(table.Row, len(shown))
	configs := make([]table.ColumnConfig, len(shown))
	for i, c := range shown {
		header[i] = cutText(c.name, c.width)
		configs[i] = table.ColumnConfig{Number: i + 1, Align: c.align(), AlignHeader: c.align()}
	}
	t.AppendHeader(header)
	t.SetColumnConfigs(configs)
	for i := range l.rows {
		row := make(table.Row, len(shown))
		for j, c := range shown {
			row[j] = cutText(c.cells[i], c.width)
		}
		t.AppendRow(row)
	}
	return t.Render()
}

func (t *textColumn) align() text.Align {
	if t.numeric {
		return text.AlignRight
	}
	return text.AlignLeft
}

func cutText(s string, width int) string {
	if displayWidth(s) <= width {
		return s
	}
	return text.Snip(s, width, "…")
}

// textOf is a cell as people read it.
func (o TableOptions) textOf(name string, r *Row, c cell) string {
	switch {
	case c.kind == absent:
		return "-"
	case name == "started":
		location := o.Location
		if location == nil {
			location = time.UTC
		}
		return r.Started.In(location).Format("2006-01-02 15:04:05")
	case name == "duration":
		return HumanDuration(c.num)
	case name == "gpus":
		return shortGPUs(r.GPUs)
	case name == "revision":
		return Visible(c.text[:min(12, len(c.text))])
	case c.kind == number && c.text == "":
		return HumanNumber(c.num)
	default:
		return Visible(c.String())
	}
}

// shortGPUs cuts UUIDs (GPU-5b3c2a1f-...) after the first group, which tells the GPUs of a host apart.
func shortGPUs(uuids []string) string {
	short := slices.Clone(uuids)
	for i, u := range short {
		if rest, ok := strings.CutPrefix(u, "GPU-"); ok {
			first, _, _ := strings.Cut(rest, "-")
			short[i] = "GPU-" + first
		}
	}
	return Visible(strings.Join(short, ","))
}

func indexText(r *Row) string { return strconv.FormatInt(r.Index, 10) }
