package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	cliv2 "github.com/urfave/cli/v2"
	"golang.org/x/term"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/analysis"
	"mlframework/sweep/api"
	"mlframework/sweep/human"
)

func plotCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "plot", ArgsUsage: "[SWEEP] [PARAMETER...]",
		Action: onSource(c, readPlotOptions), Usage: "show which parameters matter",
		Flags: append(locationFlags(),
			&cliv2.StringFlag{Name: "metric", DefaultText: "the objective's",
				Usage: "show the metric `NAME`"},
			&cliv2.StringFlag{Name: "where",
				Usage: "use only tasks that match `EXPR`, such as 'optimizer=adam'"},
			flagJSON()),
		Description: `For each value of each parameter, shows the distribution of the metric over the
tasks with that value: a thin line from the 5th to the 95th percentile, a thick
line from the 25th to the 75th, the median as o, and the best value as *.
Parameters are sorted by the share of the metric's variance that they explain:
the sum of squares between the means of their values, divided by the total sum
of squares.

EXAMPLES:
   run-tasks plot
   run-tasks plot run_training-1 lr batchsize --metric loss`}
}

// plotOptions are the options of `run-tasks plot`.
type plotOptions struct {
	sweep      string
	parameters []string // none: all
	query      api.PlotQuery
	json       bool
}

func readPlotOptions(ctx *cliv2.Context) (plotOptions, error) {
	o := plotOptions{query: api.PlotQuery{Metric: ctx.String("metric"),
		Where: ctx.String("where")}, json: ctx.Bool("json")}
	if args := ctx.Args().Slice(); len(args) > 0 {
		o.sweep, o.parameters = args[0], args[1:]
	}
	return o, nil
}

// run draws the effects of parameters on a metric.
func (o plotOptions) run(ctx context.Context, src source, t *terminal) error {
	s, err := findSweep(ctx, t, src, o.sweep, false)
	if err != nil {
		return err
	}
	o.sweep = s.ID
	e, err := src.Effects(ctx, o.sweep, o.query)
	if refused, is := err.(*api.Error); is && refused.Parameter == "metric" {
		return cli.Wrong("name a metric: --metric NAME", "%s has no objective", o.sweep)
	}
	if err != nil {
		return err
	}
	for _, name := range o.parameters {
		if !slices.ContainsFunc(e.Parameters, func(p api.Effect) bool { return p.Name == name }) {
			return cli.Wrong("", "%s has no parameter %s with several values", o.sweep,
				cli.Visible(name))
		}
	}
	if len(o.parameters) > 0 {
		e.Parameters = slices.DeleteFunc(e.Parameters, func(p api.Effect) bool {
			return !slices.Contains(o.parameters, p.Name)
		})
	}
	switch {
	case o.json:
		return encode(t.stdout, e)
	case e.Points == 0:
		return cli.Wrong("", "no task of %s has a value of %s", o.sweep, cli.Visible(e.Metric))
	case len(e.Parameters) == 0:
		return cli.Wrong("", "no parameter of %s has several values", o.sweep)
	}
	width := 80
	if columns, _, err := term.GetSize(int(t.stdout.Fd())); err == nil && columns > 0 {
		width = columns
	}
	return newChart(e, width).write(t.stdout, o.sweep)
}

// chart is effects as text.
type chart struct {
	api.Effects
	scale       analysis.Scale
	label, plot int // widths
}

// leastPlot is the smallest width of the drawn part of a line.
const leastPlot = 16

func newChart(e api.Effects, width int) chart {
	c, tasks := chart{Effects: e, scale: e.Scale()}, len("tasks")
	for _, p := range e.Parameters {
		for _, v := range p.Values {
			c.label = max(c.label, len([]rune(cli.Visible(v.Value))))
			tasks = max(tasks, len(tasksText(v)))
		}
	}
	c.label = min(c.label, max(8, width/3))
	c.plot = max(leastPlot, width-len("    ")-c.label-len("12345678  12345678    ")-tasks)
	return c
}

func (c chart) write(out io.Writer, sweep string) error {
	direction := ""
	switch {
	case c.Maximize == nil: // not of the objective
	case *c.Maximize:
		direction = ", larger is better"
	default:
		direction = ", smaller is better"
	}
	scale := ""
	if c.scale.Logarithmic {
		scale = ", logarithmic"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s%s: %s", cli.Visible(c.Metric), sweep, direction,
		human.Plural(c.Points, "task"))
	if c.Without > 0 {
		fmt.Fprintf(&b, "; %d without a value, of which %d failed", c.Without, c.Failed)
	}
	b.WriteString("\n")
	for i, p := range c.Parameters {
		share := "no share"
		if p.Share != nil {
			share = fmt.Sprintf("%.0f %% of the variance", 100**p.Share)
		}
		fmt.Fprintf(&b, "\n%s: %s\n", cli.Visible(p.Name), share)
		if i == 0 {
			fmt.Fprintf(&b, "  %-*s  %-8s  %-8s  %-*s  tasks\n", c.label, "", "median", "best", c.plot,
				"")
		}
		for _, v := range p.Values {
			line := fmt.Sprintf("  %-*s  %-8s  %-8s  %s  %s", c.label, cut(cli.Visible(v.Value),
				c.label), orDash(v.Median), orDash(v.Best), c.draw(v), tasksText(v))
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	fmt.Fprintf(&b, "\n%*s%s%s\n", len("    ")+c.label+len("12345678  12345678  "), "",
		axis(c.scale.Low, c.scale.High, c.plot), scale)
	_, err := io.WriteString(out, b.String())
	return err
}

// tasksText is "12 (3 failed)".
func tasksText(v api.EffectValue) string {
	text := fmt.Sprint(v.Points)
	if v.Failed > 0 {
		text += fmt.Sprintf(" (%d failed)", v.Failed)
	}
	return text
}

// draw draws how the metric is distributed over the tasks with a value.
func (c chart) draw(v api.EffectValue) string {
	line := []rune(strings.Repeat(" ", c.plot))
	if v.Median == nil {
		return string(line)
	}
	fill := func(from, to float64, with rune) {
		for i := c.at(from); i <= c.at(to); i++ {
			line[i] = with
		}
	}
	fill(*v.P05, *v.P95, '─')
	fill(*v.P25, *v.P75, '━')
	line[c.at(*v.Median)] = 'o'
	if v.Best != nil {
		line[c.at(*v.Best)] = '*'
	}
	return string(line)
}

// at returns the column of a number.
func (c chart) at(n float64) int { return int(math.Round(c.scale.At(n) * float64(c.plot-1))) }

// axis is the two ends of a scale of some width.
func axis(low, high float64, width int) string {
	left, right := orDash(&low), orDash(&high)
	return left + strings.Repeat(" ", max(1, width-len(left)-len(right))) + right
}

// cut cuts a text to a width.
func cut(text string, width int) string {
	if r := []rune(text); len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return text
}

// orDash is a number of four digits.
func orDash(n *float64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprintf("%.4g", *n)
}
