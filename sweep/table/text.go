package table

import (
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"mlframework/sweep/human"
	"mlframework/sweep/metric"
)

// TableOptions say how a table of text looks. The zero value shows everything, times in UTC.
type TableOptions struct {
	Width     int              // columns of the terminal; 0 is no limit
	Objective metric.Objective // its metric comes first and is never left out
	Schema    Schema           // columns to show beside those of the rows themselves
	Location  *time.Location   // of times; nil is UTC
	// in which a [TextWriter] puts the rows, which it alone uses; nil: as they are written
	Order *Sorter
}

// wrap joins words to lines of at most width columns, the first with a prefix; nothing for no
// words.
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

func displayWidth(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return text.StringWidthWithoutEscSequences(s)
		}
	}
	return len(s)
}

func cutText(s string, width int) string {
	if displayWidth(s) <= width {
		return s
	}
	return text.Snip(s, width, "…")
}

// textOf returns a cell as people read it.
func (o TableOptions) textOf(name string, r *Row, c cell) string {
	switch {
	case c.Kind == absent:
		return absentText
	case name == "started":
		location := o.Location
		if location == nil {
			location = time.UTC
		}
		return r.Started.In(location).Format(time.DateTime + " MST")
	case name == "duration":
		return human.Duration(c.Number)
	case name == "gpus":
		return shortGPUs(r.UUIDs())
	case name == "revision":
		return human.Visible(c.Text[:min(12, len(c.Text))])
	case c.Kind == number && c.Text == "":
		return human.Number(c.Number)
	default:
		return human.Visible(c.String())
	}
}

// shortGPUs names GPUs as short as tells those of a host apart.
func shortGPUs(uuids []string) string {
	short := make([]string, len(uuids))
	for i, u := range uuids {
		short[i] = human.GPU(u)
	}
	return strings.Join(short, ",")
}
