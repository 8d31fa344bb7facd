package monitor

import (
	"fmt"
	"strconv"

	"mlframework/sweep/analysis"
	"mlframework/sweep/human"
	"mlframework/sweep/metric"
)

// Where in the drawing the curve is, in percent of its width and height: left of it and below it
// stand the labels. Text is placed in percent and has its size from the style sheet, so that it is
// as large on a phone.
const (
	curveLeft, curveRight = 14., 97.
	curveTop, curveBottom = 9., 82.
)

// Up to so many values each has a mark of its own; of more than so many some are left out.
const (
	maxMarks  = 60
	maxPoints = 1000
)

// point is a value of a metric at a step.
type point struct{ X, Y float64 }

// curve is a drawing of a metric by steps.
type curve struct {
	Metric, By  string // "loss", "step"
	Logarithmic bool
	First, Last string // steps
	End         string // the last value
	Ticks       []tick
	Lines       []string // coordinates in thousandths of the drawing's area, a point a line
	Marks       []mark
	Infinite    []mark // values that are none, at the upper edge
}

// tick is a label of the vertical axis, at a height in percent.
type tick struct {
	Label string
	Y     string
}

// mark is a point in percent, and what it is.
type mark struct{ X, Y, Title string }

// curveOf returns the curve of a metric of a task, or, where that has none, of its first metric that
// has one; nil: none has.
func curveOf(name string, series []metric.Sample) *curve {
	if c := curveNamed(name, series); c != nil {
		return c
	}
	for _, s := range series[:min(len(series), 100)] {
		if c := curveNamed(s.Name, series); c != nil {
			return c
		}
	}
	return nil
}

// curveNamed returns the curve of a metric.
func curveNamed(name string, series []metric.Sample) *curve {
	points, by := pointsOf(name, series)
	return newCurve(human.Truncate(human.Visible(name)), by, points)
}

// pointsOf returns the values of a metric by their steps, or, where one has none, by their number.
func pointsOf(name string, series []metric.Sample) (points []point, by string) {
	by = byStep
	for _, s := range series {
		if s.Name != name {
			continue
		}
		if s.Step == nil {
			by = byNumber
		}
		points = append(points, point{Y: s.Value})
		if n := len(points); s.Step != nil {
			points[n-1].X = float64(*s.Step)
		}
	}
	if by == byNumber {
		number(points)
	}
	return points, by
}

// What values are drawn by.
const (
	byStep   = "step"
	byNumber = "value"
	byTime   = "after"
)

// number gives points their numbers, from 1.
func number(points []point) {
	for i := range points {
		points[i].X = float64(i + 1)
	}
}

// newCurve draws points in their order; nil: there are not two numbers.
func newCurve(name, by string, points []point) *curve {
	points = analysis.Thin(points, maxPoints)
	xs, ys := analysis.NewScale(), analysis.NewScale()
	finite := 0
	for _, p := range points {
		xs.Include(p.X)
		if metric.IsFinite(p.Y) {
			ys.Include(p.Y)
			finite++
		}
	}
	if finite < 2 || xs.Low == xs.High {
		return nil
	}
	ys.Settle()
	c := &curve{Metric: name, By: by, Logarithmic: ys.Logarithmic, First: stepText(xs.Low),
		Last: stepText(xs.High), End: fourDigits(points[len(points)-1].Y), Ticks: ticksOf(ys)}
	c.Lines = parts(points, xs, ys)
	for i, p := range points {
		m := mark{X: percentText(curveLeft, curveRight, xs.At(p.X)),
			Y:     percentText(curveTop, curveBottom, 0),
			Title: fmt.Sprintf("%s at %s %s", fourDigits(p.Y), by, stepText(p.X))}
		if !metric.IsFinite(p.Y) {
			c.Infinite = append(c.Infinite, m)
			continue
		}
		if m.Y = percentText(curveTop, curveBottom, 1-ys.At(p.Y)); len(points) <= maxMarks ||
			i == len(points)-1 {
			c.Marks = append(c.Marks, m)
		}
	}
	return c
}

// ticksOf returns the labels of a vertical axis.
func ticksOf(ys analysis.Scale) (all []tick) {
	for _, v := range ys.Ticks() {
		all = append(all, tick{fourDigits(v), percentText(curveTop, curveBottom, 1-ys.At(v))})
	}
	return all
}

func percentText(from, to, at float64) string {
	return strconv.FormatFloat(from+(to-from)*at, 'f', 1, 64) + "%"
}

func stepText(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
