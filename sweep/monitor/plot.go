package monitor

import (
	"fmt"
	"slices"
	"strings"

	"mlframework/sweep/analysis"
	"mlframework/sweep/human"
	"mlframework/sweep/metric"
)

// Where a plot's curves are, in percent of its width, left of the labels at their ends.
const (
	plotRight = 86.
	// labelDistance is how far the labels at the ends of curves are apart, in percent of the height.
	labelDistance = 6.2
	// maxPlotLines is how many curves a plot has at most.
	maxPlotLines = 12
)

// plot is a drawing of several curves over each other.
type plot struct {
	Caption     string // "loss by step"
	By          string // before First
	Logarithmic bool
	First, Last string // steps
	Ticks       []tick
	Bands       []plotArea
	Some        string // a path that has a dot for each of some values
	Lines       []plotCurve
	Dots        []mark // the ends of curves that go on
	Labels      []plotLabel
	Infinite    []mark

	xText func(float64) string
}

// plotArea is a surface, its corners in thousandths of the drawing's area.
type plotArea struct{ Class, Corners, Title string }

// plotCurve is a curve, in parts where values between are none.
type plotCurve struct {
	Class, Title string
	Parts        []string
}

// plotLabel names a curve at its end.
type plotLabel struct {
	Text, Title, URL, Class string
	X, Y                    string // of the end
	At                      string // of the text, from top to bottom
	at                      float64
}

// line is a curve that is to be drawn.
type drawnLine struct {
	label, title, url, class string
	points                   []point
	goesOn                   bool // more points may come
}

// band is an area between two values at each step.
type band struct {
	class, title string
	x, low, high []float64
}

// captionOf returns what a plot of a metric is called.
func captionOf(metric, by string) string {
	return human.Truncate(human.Visible(metric)) + " by " + by
}

// drawing is what a plot is to show.
type drawing struct {
	caption, by string
	lines       []drawnLine
	bands       []band
	some        []point
	xText       func(float64) string // nil: as a step
}

// newPlot draws curves, and bands and single values behind them; nil: there is nothing that has an
// extent.
func newPlot(d drawing) *plot {
	xs, ys := analysis.NewScale(), analysis.NewScale()
	include := func(points []point) {
		for _, p := range points {
			xs.Include(p.X)
			ys.Include(p.Y)
		}
	}
	for i := range d.lines {
		d.lines[i].points = analysis.Thin(d.lines[i].points, maxPoints)
		include(d.lines[i].points)
	}
	include(d.some)
	for _, b := range d.bands {
		for i, x := range b.x {
			include([]point{{x, b.low[i]}, {x, b.high[i]}})
		}
	}
	if ys.IsEmpty() || xs.Low >= xs.High {
		return nil
	}
	ys.Settle()
	if d.xText == nil {
		d.xText = stepText
	}
	p := &plot{Caption: d.caption, By: d.by, Logarithmic: ys.Logarithmic, First: d.xText(xs.Low),
		Last: d.xText(xs.High), Ticks: ticksOf(ys), xText: d.xText}
	for _, b := range d.bands {
		var corners []string
		for i, x := range b.x {
			corners = append(corners, corner(xs.At(x), ys.At(b.high[i])))
		}
		for i := len(b.x) - 1; i >= 0; i-- {
			corners = append(corners, corner(xs.At(b.x[i]), ys.At(b.low[i])))
		}
		p.Bands = append(p.Bands, plotArea{b.class, strings.Join(corners, "\n"), b.title})
	}
	var dots strings.Builder
	for _, one := range d.some {
		if metric.IsFinite(one.Y) {
			dots.WriteString("M" + corner(xs.At(one.X), ys.At(one.Y)) + "h0\n")
		}
	}
	p.Some = dots.String()
	for _, l := range d.lines {
		p.add(l, xs, ys)
	}
	spread(p.Labels)
	return p
}

// add draws a curve.
func (p *plot) add(l drawnLine, xs, ys analysis.Scale) {
	p.Lines = append(p.Lines, plotCurve{l.class, l.title, parts(l.points, xs, ys)})
	for _, one := range l.points {
		if !metric.IsFinite(one.Y) {
			p.Infinite = append(p.Infinite, mark{X: percentText(curveLeft, plotRight, xs.At(one.X)),
				Y:     percentText(curveTop, curveBottom, 0),
				Title: l.label + ": " + fourDigits(one.Y) + p.where(one.X)})
		}
	}
	last := slices.IndexFunc(l.points, func(one point) bool { return metric.IsFinite(one.Y) })
	for i, one := range l.points {
		if metric.IsFinite(one.Y) {
			last = i
		}
	}
	if last < 0 {
		return
	}
	end := l.points[last]
	at := curveTop + (curveBottom-curveTop)*(1-ys.At(end.Y))
	label := plotLabel{Text: l.label, URL: l.url, Class: l.class,
		Title: l.title + ", " + fourDigits(end.Y) + p.where(end.X),
		X:     percentText(curveLeft, plotRight, xs.At(end.X)),
		Y:     percentText(0, 100, at/100), at: at}
	p.Labels = append(p.Labels, label)
	if l.goesOn || len(l.points) == 1 {
		p.Dots = append(p.Dots, mark{label.X, label.Y, label.Title})
	}
}

// where says where something is in the drawing: " at step 3", " after 1.5s".
func (p *plot) where(x float64) string {
	if p.By == byTime {
		return " " + p.By + " " + p.xText(x)
	}
	return " at " + p.By + " " + p.xText(x)
}

// parts returns the lines between points that are numbers.
func parts(points []point, xs, ys analysis.Scale) (all []string) {
	var line []string
	flush := func() {
		if len(line) > 1 {
			all = append(all, strings.Join(line, "\n"))
		}
		line = nil
	}
	for _, p := range points {
		if !metric.IsFinite(p.Y) {
			flush()
			continue
		}
		line = append(line, corner(xs.At(p.X), ys.At(p.Y)))
	}
	flush()
	return all
}

// corner returns a place in a drawing's area, whose y counts from above.
func corner(x, y float64) string {
	return fmt.Sprintf("%.0f,%.0f", 1000*x, 1000*(1-y))
}

// spread moves labels apart that would stand on one another, and none out of the drawing.
func spread(labels []plotLabel) {
	order := make([]*plotLabel, len(labels))
	for i := range labels {
		order[i] = &labels[i]
	}
	slices.SortStableFunc(order, func(a, b *plotLabel) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	for i := 1; i < len(order); i++ {
		order[i].at = max(order[i].at, order[i-1].at+labelDistance)
	}
	for i, below := len(order)-1, 100-labelDistance; i >= 0; i-- {
		order[i].at = min(order[i].at, below)
		below = order[i].at - labelDistance
	}
	for _, l := range order {
		l.At = percentText(0, 100, l.at/100)
	}
}
