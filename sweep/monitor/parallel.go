package monitor

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mlframework/sweep/analysis"
	"mlframework/sweep/api"
	"mlframework/sweep/expr"
	"mlframework/sweep/human"
	"mlframework/sweep/table"
)

const (
	// maxAxes is how many parameters are drawn beside the objective.
	maxAxes = 8
	// Where in the drawing the axes are, in percent.
	axesLeft, axesRight = 2., 91.
	axesTop, axesBottom = 11., 96.
	// labelGap is how far the labels of an axis are apart, in percent of the height.
	labelGap = 6.
	// maxTickRunes is how long a label of an axis is.
	maxTickRunes = 11
	// maxNameRunes is how long the name of a parameter is, which its title has in full.
	maxNameRunes = 16
	// Of the lines a fiftieth is drawn as the best, and at least some.
	bestShare, leastBest = 50, 3
	// shades are how many shades lines and cells have.
	shades = 5
)

// parallelView is parallel coordinates: a line for each task through its parameters to its objective.
type parallelView struct {
	Axes    []axis
	Lines   []plotCurve // by shade, the worst first
	Best    []bestCurve
	Density string // "few", "some" or "many"
}

// axis is a parameter, or the objective.
type axis struct {
	Name, Title, X string
	Ticks          []axisTick
	Hidden         []axisTick // values without room for a label; a drag reaches them

	// of numbers between its ends, by which tasks can be filtered, as URLs have it; "": its ticks and
	// hidden ones are all its values
	Column      string
	Low, High   string
	Logarithmic bool
}

// axisTick is a value on an axis. Term is the filter that picks its tasks, to which URL leads, as
// URLs have it; "": it is a number between those of tasks.
type axisTick struct{ Text, Title, Term, URL, Y string }

// bestCurve is the line of one of the best tasks.
type bestCurve struct{ Title, URL, Points string }

// varying returns the parameters of points that have several values, in an order of names; others
// come last.
func varying(p api.Points, order []string) (all []api.PointColumn) {
	for _, c := range p.Parameters {
		if len(c.Values) > 1 {
			all = append(all, c)
		}
	}
	place := func(c api.PointColumn) int {
		if at := slices.Index(order, c.Name); at >= 0 {
			return at
		}
		return len(order)
	}
	slices.SortStableFunc(all, func(a, b api.PointColumn) int {
		return cmp.Compare(place(a), place(b))
	})
	return all
}

// goodness returns for each point how many of the points are better, as a part of all: 0 is the best.
func goodness(p api.Points) []float64 {
	order := make([]int, len(p.Values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if p.Maximize != nil && *p.Maximize {
			a, b = b, a
		}
		return cmp.Compare(p.Values[a], p.Values[b])
	})
	ranks := make([]float64, len(order))
	for place, i := range order {
		ranks[i] = float64(place) / float64(len(order))
	}
	return ranks
}

// parallel draws points by some of their parameters; nil: there is nothing to draw. Task returns the
// address of a task, and filtered that of the tasks that a term of a filter picks.
func parallel(p api.Points, columns []api.PointColumn, task func(int64) string,
	filtered func(term string) string) *parallelView {
	if len(columns) == 0 || len(p.Indexes) < 2 {
		return nil
	}
	columns = columns[:min(len(columns), maxAxes)]
	ranks := goodness(p)
	v := parallelView{Density: "some"}
	if n := len(p.Indexes); n < 150 {
		v.Density = "few"
	} else if n > 700 {
		v.Density = "many"
	}
	heights := make([][]float64, len(columns)+1) // by axis, then by point
	for n, c := range columns {
		at, ticks, scale := placesOf(c)
		for i, tick := range ticks {
			if scale == nil {
				ticks[i].Term = effectTerm(c.Name, tick.Title)
			}
			if ticks[i].Term != "" {
				ticks[i].URL = filtered(ticks[i].Term)
				ticks[i].Term = url.PathEscape(ticks[i].Term)
			}
			ticks[i].Title = human.Truncate(human.Visible(tick.Title))
		}
		one := newAxis(c.Name, n, len(columns), ticks)
		if scale != nil {
			one.over(expr.Name(table.ParameterName(c.Name)), *scale)
		}
		v.Axes = append(v.Axes, one)
		heights[n] = make([]float64, len(p.Indexes))
		// equal values are spread by rank, so that each line can be followed
		spread := 0.
		if len(at) <= analysis.MostValues {
			spread = min(0.1, 0.5/float64(len(at)))
		}
		for i, level := range c.Of {
			heights[n][i] = at[level] + spread*(0.5-ranks[i])
		}
	}
	scale := analysis.NewScale()
	for _, value := range p.Values {
		scale.Include(value)
	}
	scale.Settle()
	var ticks []axisTick
	for _, value := range scale.Ticks() {
		ticks = append(ticks, axisTick{Text: fourDigits(value), Y: axisHeight(scale.At(value))})
	}
	objective := newAxis(p.Metric, len(columns), len(columns), ticks)
	objective.over(expr.Name("metrics."+p.Metric), scale)
	v.Axes = append(v.Axes, objective)
	last := make([]float64, len(p.Values))
	for i, value := range p.Values {
		last[i] = scale.At(value)
	}
	heights[len(columns)] = last
	v.draw(p, heights, ranks, task)
	return &v
}

// draw draws the lines, the best of them each for itself.
func (v *parallelView) draw(p api.Points, heights [][]float64, ranks []float64,
	task func(int64) string) {
	shaded := make([][]string, shades)
	best := max(leastBest, len(ranks)/bestShare)
	for i, rank := range ranks {
		var corners []string
		for n := range heights {
			corners = append(corners, corner(float64(n)/float64(len(heights)-1),
				min(1, max(0, heights[n][i]))))
		}
		if p.Maximize != nil && math.Round(rank*float64(len(ranks))) < float64(best) {
			index := strconv.FormatInt(p.Indexes[i], 10)
			v.Best = append(v.Best, bestCurve{URL: task(p.Indexes[i]), Points: strings.Join(corners, " "),
				Title: fmt.Sprintf("task %s, %s", index, fourDigits(p.Values[i]))})
			continue
		}
		shade := min(shades-1, int(rank*shades))
		shaded[shade] = append(shaded[shade], "M"+strings.Join(corners, "L"))
	}
	for shade := shades - 1; shade >= 0; shade-- {
		if len(shaded[shade]) > 0 {
			v.Lines = append(v.Lines, plotCurve{Class: "shade-" + strconv.Itoa(shade),
				Parts: shaded[shade]})
		}
	}
}

func newAxis(name string, n, last int, ticks []axisTick) axis {
	shown := human.Visible(name)
	a := axis{Name: cutRunes(shown, maxNameRunes), Title: human.Truncate(shown),
		X: percentText(axesLeft, axesRight, float64(n)/float64(last))}
	slices.SortFunc(ticks, func(a, b axisTick) int { return cmp.Compare(percentOf(b.Y), percentOf(a.Y)) })
	below := math.Inf(1)
	for _, t := range ticks { // from the bottom up
		if y := percentOf(t.Y); below-y >= labelGap {
			a.Ticks = append(a.Ticks, t)
			below = y
		} else if t.URL != "" {
			a.Hidden = append(a.Hidden, t)
		}
	}
	return a
}

// over makes an axis one of the numbers of a column.
func (a *axis) over(column string, s analysis.Scale) {
	a.Column, a.Logarithmic = url.PathEscape(column), s.Logarithmic
	a.Low, a.High = strconv.FormatFloat(s.Low, 'g', -1, 64), strconv.FormatFloat(s.High, 'g', -1, 64)
}

func percentOf(text string) float64 {
	v, _ := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	return v
}

func axisHeight(at float64) string { return percentText(axesTop, axesBottom, 1-at) }

// placesOf returns where the values of a parameter are on its axis, from 0 to 1, and their labels,
// whose titles are the values. Many numbers are on a scale, other values at even distances.
func placesOf(c api.PointColumn) (at []float64, ticks []axisTick, over *analysis.Scale) {
	at = make([]float64, len(c.Values))
	scale, numbers := analysis.NewScale(), make([]float64, len(c.Values))
	numeric := true
	for i, text := range c.Values {
		n, err := strconv.ParseFloat(text, 64)
		numbers[i], numeric = n, numeric && err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
		scale.Include(n)
	}
	if numeric && len(c.Values) > analysis.MostValues {
		scale.Settle()
		for i := range at {
			at[i] = scale.At(numbers[i])
		}
		for _, n := range scale.Ticks() {
			ticks = append(ticks, axisTick{Text: fourDigits(n), Y: axisHeight(scale.At(n))})
		}
		return at, ticks, &scale
	}
	order := make([]int, len(c.Values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if numeric {
			return cmp.Compare(numbers[a], numbers[b])
		}
		return human.CompareNatural(c.Values[a], c.Values[b])
	})
	for place, i := range order {
		at[i] = (float64(place) + 0.5) / float64(len(order))
		text := human.Visible(c.Values[i])
		ticks = append(ticks, axisTick{Text: cutRunes(cmp.Or(text, "none"), maxTickRunes),
			Title: c.Values[i], Y: axisHeight(at[i])})
	}
	return at, ticks, nil
}

func cutRunes(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
