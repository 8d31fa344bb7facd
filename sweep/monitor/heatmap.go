package monitor

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"mlframework/sweep/analysis"
	"mlframework/sweep/api"
	"mlframework/sweep/human"
)

// heatMap is the objective by the pairs of values of two parameters.
type heatMap struct {
	X, Y    string // parameters
	Choices []string
	Columns []value
	Rows    []heatRow
}

type heatRow struct {
	value
	Cells []heatCell
}

// heatCell is the tasks with a pair of values; Text is their median, "": there are none.
type heatCell struct{ Text, Title, URL, Shade string }

// newHeatMap returns cells for two parameters; nil: there are no two. Term returns the address of
// the tasks with two values.
func newHeatMap(p api.Points, columns []api.PointColumn, x, y string,
	term func(xValue, yValue [2]string) string) *heatMap {
	if len(columns) < 2 {
		return nil
	}
	h := heatMap{}
	a, b := columns[0], columns[1]
	for _, c := range columns {
		h.Choices = append(h.Choices, human.Visible(c.Name))
		if human.Visible(c.Name) == x {
			a = c
		}
	}
	if b.Name == a.Name {
		b = columns[0]
	}
	for _, c := range columns {
		if human.Visible(c.Name) == y && c.Name != a.Name {
			b = c
		}
	}
	h.X, h.Y = human.Visible(a.Name), human.Visible(b.Name)
	c := analysis.NewCollector([]string{a.Name, b.Name})
	rare := bestOfSample(p)
	for i, v := range p.Values {
		if rare != nil && rare(v) {
			continue
		}
		c.Add([]string{a.Values[a.Of[i]], b.Values[b.Of[i]]}, v, false)
	}
	maximize := p.Maximize != nil && *p.Maximize
	g := c.Grid(0, 1, maxHeat, maximize)
	scale := analysis.NewScale()
	for i := range g.Y {
		for j := range g.X {
			scale.Include(g.Cells[i][j].Median)
		}
	}
	scale.Settle()
	for _, text := range g.X {
		h.Columns = append(h.Columns, shownValue(text))
	}
	for i, text := range g.Y {
		row := heatRow{value: shownValue(text)}
		for j := range g.X {
			row.Cells = append(row.Cells, heatCellOf(g.Cells[i][j], scale, maximize,
				term([2]string{a.Name, g.X[j]}, [2]string{b.Name, text})))
		}
		h.Rows = append(h.Rows, row)
	}
	return &h
}

// bestOfSample returns which values of a sample are among the best, of which it has all: medians with
// them would be too good. It is nil if all tasks are there.
func bestOfSample(p api.Points) func(value float64) bool {
	if p.Maximize == nil || int64(len(p.Values)) >= p.Tasks || len(p.Values) <= api.BestPoints {
		return nil
	}
	sorted := slices.Sorted(slices.Values(p.Values))
	if *p.Maximize {
		least := sorted[len(sorted)-api.BestPoints]
		return func(value float64) bool { return value >= least }
	}
	most := sorted[api.BestPoints-1]
	return func(value float64) bool { return value <= most }
}

// maxHeat is how many values of each parameter have cells.
const maxHeat = 30

func heatCellOf(v analysis.Value, s analysis.Scale, maximize bool, url string) heatCell {
	if math.IsNaN(v.Median) {
		return heatCell{}
	}
	good := s.At(v.Median)
	if !maximize {
		good = 1 - good
	}
	return heatCell{Text: fourDigits(v.Median), URL: url,
		Shade: strconv.Itoa(min(shades-1, max(0, int(shades*good)))),
		Title: fmt.Sprintf("median of %s; best %s", human.Plural(v.Points, "task"),
			fourDigits(v.Best))}
}

func shownValue(text string) value {
	shown := human.Visible(text)
	if shown == "" {
		shown = "none"
	}
	return value{Text: cutRunes(shown, 2*maxTickRunes), Title: human.Truncate(shown)}
}
