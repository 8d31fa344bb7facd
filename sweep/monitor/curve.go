package monitor

import (
	"fmt"
	"math"
	"strconv"
	"strings"

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

// logarithmicFrom is how many times larger the largest of a curve's values is than the smallest, all
// positive, for its axis to be logarithmic.
const logarithmicFrom = 30

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

// curveNamed returns the curve of a metric, by its steps where every value has one.
func curveNamed(name string, series []metric.Sample) *curve {
	var points []point
	by := "step"
	for _, s := range series {
		if s.Name != name {
			continue
		}
		if s.Step == nil {
			by = "value"
		}
		points = append(points, point{Y: s.Value})
		if n := len(points); s.Step != nil {
			points[n-1].X = float64(*s.Step)
		}
	}
	if by == "value" {
		for i := range points {
			points[i].X = float64(i + 1)
		}
	}
	return newCurve(human.Truncate(human.Visible(name)), by, points)
}

// newCurve draws points in their order; nil: there are not two numbers.
func newCurve(name, by string, points []point) *curve {
	points = thinned(points)
	xs, ys := newScale(), newScale()
	finite := 0
	for _, p := range points {
		xs.include(p.X)
		if !math.IsNaN(p.Y) && !math.IsInf(p.Y, 0) {
			ys.include(p.Y)
			finite++
		}
	}
	if finite < 2 || xs.low == xs.high {
		return nil
	}
	ys.logarithmic = ys.low > 0 && ys.high >= logarithmicFrom*ys.low
	ys.widen()
	c := &curve{Metric: name, By: by, Logarithmic: ys.logarithmic, First: stepText(xs.low),
		Last: stepText(xs.high), End: fourDigits(points[len(points)-1].Y)}
	for _, v := range ys.ticks() {
		c.Ticks = append(c.Ticks, tick{fourDigits(v), percentText(curveTop, curveBottom,
			1-ys.at(v))})
	}
	var line []string
	flush := func() {
		if len(line) > 1 {
			c.Lines = append(c.Lines, strings.Join(line, "\n"))
		}
		line = nil
	}
	for i, p := range points {
		x := xs.at(p.X)
		m := mark{X: percentText(curveLeft, curveRight, x), Y: percentText(curveTop, curveBottom, 0),
			Title: fmt.Sprintf("%s at %s %s", fourDigits(p.Y), by, stepText(p.X))}
		if math.IsNaN(p.Y) || math.IsInf(p.Y, 0) {
			c.Infinite = append(c.Infinite, m)
			flush()
			continue
		}
		y := 1 - ys.at(p.Y)
		line = append(line, fmt.Sprintf("%.0f,%.0f", 1000*x, 1000*y))
		if m.Y = percentText(curveTop, curveBottom, y); len(points) <= maxMarks ||
			i == len(points)-1 {
			c.Marks = append(c.Marks, m)
		}
	}
	flush()
	return c
}

// thinned leaves out points at even distances where there are too many, and never the last.
func thinned(points []point) (few []point) {
	every := (len(points) + maxPoints - 1) / maxPoints
	if every < 2 {
		return points
	}
	for i := (len(points) - 1) % every; i < len(points); i += every {
		few = append(few, points[i])
	}
	return few
}

// scale places numbers between its bounds, from 0 to 1.
type scale struct {
	low, high   float64
	logarithmic bool
}

func newScale() scale { return scale{low: math.Inf(1), high: math.Inf(-1)} }

func (s *scale) include(v float64) { s.low, s.high = min(s.low, v), max(s.high, v) }

// widen gives room to a scale of one number.
func (s *scale) widen() {
	if s.low == s.high {
		room := max(math.Abs(s.low)/10, 1e-9)
		s.low, s.high = s.low-room, s.high+room
	}
}

func (s *scale) at(v float64) float64 {
	if s.logarithmic {
		return math.Log(v/s.low) / math.Log(s.high/s.low)
	}
	return (v/2 - s.low/2) / (s.high/2 - s.low/2) // the difference of the wholes may be infinite
}

// ticks returns up to about five round numbers of the scale.
func (s *scale) ticks() []float64 {
	const enough = 5
	if s.logarithmic {
		for _, digits := range [][]float64{{1, 2, 5}, {1}} {
			if all := s.multiples(digits, 1); len(all) <= enough {
				return all
			}
		}
		decades := len(s.multiples([]float64{1}, 1))
		return s.multiples([]float64{1}, (decades+enough-1)/enough)
	}
	step := math.Pow(10, math.Floor(math.Log10(s.high/enough-s.low/enough)))
	for _, digit := range []float64{1, 2, 5, 10} {
		if all := s.steps(digit * step); len(all) <= enough {
			return all
		}
	}
	return nil
}

func (s *scale) steps(step float64) (all []float64) {
	for n := math.Ceil(s.low / step); n*step <= s.high && len(all) < 100; n++ {
		v, _ := strconv.ParseFloat(strconv.FormatFloat(n*step, 'g', 12, 64), 64)
		all = append(all, v)
	}
	return all
}

// multiples returns digits of every so many powers of ten.
func (s *scale) multiples(digits []float64, every int) (all []float64) {
	for n := math.Floor(math.Log10(s.low)); n <= math.Log10(s.high); n++ {
		if every > 1 && int(n)%every != 0 {
			continue
		}
		for _, digit := range digits {
			text := fmt.Sprintf("%ge%d", digit, int(n)) // as exact as it can be
			if v, _ := strconv.ParseFloat(text, 64); v >= s.low && v <= s.high {
				all = append(all, v)
			}
		}
	}
	return all
}

func percentText(from, to, at float64) string {
	return strconv.FormatFloat(from+(to-from)*at, 'f', 1, 64) + "%"
}

func stepText(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
