package monitor

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/metric"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

const (
	// maxCompared is how many tasks a page compares.
	maxCompared = 100
	// bestCompared is how many the link to the best ones names.
	bestCompared = 3
	// maxDifferences is how many metrics, and how many parameters, of tasks are listed.
	maxDifferences = 100
)

// compareView is what differs between tasks of a sweep.
type compareView struct {
	Sweep, SweepURL string
	Title           string // "train-1/3, 17 and 42"
	Tasks           []comparedTask
	Differences     []differenceLine
	More            int // differences that are not listed
	Same            []value
	Plot            *plot
	Uncurved        string // why not every task has a curve
	Output          *outputComparison
}

// comparedTask is one of the tasks.
type comparedTask struct{ Label, URL, State string }

// differenceLine is what the tasks have under one name.
type differenceLine struct {
	Name, Group string
	Cells       []cell
}

// compareURL returns the page that compares tasks of a sweep.
func (m *Monitor) compareURL(sweep string) string { return m.sweepURL(sweep) + "/compare" }

func (m *Monitor) loadCompare(r *request) (*content, error) {
	s, err := m.askSweep(r.Context(), r.PathValue("sweep"), r.version)
	if err != nil {
		return nil, err
	}
	indexes, err := m.compared(r, s.value)
	if err != nil {
		return nil, err
	}
	all, err := ask(r.Context(), m.answers, fmt.Sprint("compare ", s.value.ID, indexes), r.version,
		func(ctx context.Context) (all []api.Task, err error) {
			for _, index := range indexes {
				t, err := m.o.Master.Task(ctx, s.value.ID, index)
				if err != nil {
					return nil, err
				}
				all = append(all, t)
			}
			return all, nil
		})
	if err != nil {
		return nil, err
	}
	v := m.compare(s.value, all.value)
	if v.Output, err = m.compareOutputs(r, s.value.ID, all.value); err != nil {
		return nil, err
	}
	c := m.warned(r, &content{title: v.Title, view: v, asOf: all.asOf})
	return c, nil
}

// compared returns the tasks that a URL names: by their indexes, or as the best of the sweep.
func (m *Monitor) compared(r *request, s api.Sweep) (indexes []int64, err error) {
	q := r.URL.Query()
	if q.Has("best") {
		n, err := strconv.Atoi(q.Get("best"))
		if err != nil || n < 2 || n > maxCompared {
			return nil, incomparable(fmt.Sprintf("best is a whole number from 2 to %d.",
				maxCompared))
		}
		return m.askLeaders(r, s, n)
	}
	for name := range strings.SplitSeq(strings.Join(q["tasks"], ","), ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		index, err := strconv.ParseInt(name, 10, 64)
		if err != nil || index < 0 {
			return nil, incomparable(fmt.Sprintf("%q is not the number of a task.",
				human.Truncate(name)))
		}
		if !slices.Contains(indexes, index) {
			indexes = append(indexes, index)
		}
	}
	switch {
	case len(indexes) < 2:
		return nil, incomparable("A comparison needs two tasks or more.")
	case len(indexes) > maxCompared:
		return nil, incomparable(fmt.Sprintf("These are %d tasks, and %d can be compared.",
			len(indexes), maxCompared))
	}
	return indexes, nil
}

// incomparable returns a fault in what is to be compared.
func incomparable(text string) error {
	return &fault{http.StatusBadRequest, text, "Tick tasks in the table of the sweep, or name " +
		"them in the address: ?tasks=3,17,42."}
}

// askLeaders asks which tasks of a sweep are the best.
func (m *Monitor) askLeaders(r *request, s api.Sweep, n int) (indexes []int64, err error) {
	o := s.Record.Objective
	if o.IsZero() {
		return nil, incomparable("The sweep has no objective, so no task is the best.")
	}
	rows, err := ask(r.Context(), m.answers, fmt.Sprint("leaders ", s.ID, " ", n), r.version,
		func(ctx context.Context) ([]table.Row, error) {
			page, err := m.o.Master.Tasks(ctx, s.ID,
				api.Query{Best: true, Issued: true, Limit: n})
			return page.Tasks, err
		})
	if err != nil {
		return nil, err
	}
	for i := range rows.value {
		if table.IsRanked(o, &rows.value[i]) {
			indexes = append(indexes, rows.value[i].Index)
		}
	}
	if len(indexes) < 2 {
		return nil, incomparable("Fewer than two tasks have a result of " +
			human.Visible(o.Metric) + " so far.")
	}
	return indexes, nil
}

// compare returns what differs between tasks of a sweep.
func (m *Monitor) compare(s api.Sweep, all []api.Task) compareView {
	v := compareView{Sweep: human.Visible(s.ID), SweepURL: m.sweepURL(s.ID)}
	var rows []table.Row
	var names []string
	for _, t := range all {
		rows = append(rows, t.Row)
		name := strconv.FormatInt(t.Row.Index, 10)
		names = append(names, name)
		v.Tasks = append(v.Tasks, comparedTask{name, m.taskURL(s.ID, t.Row.Index), t.Row.State})
	}
	v.Title = v.Sweep + "/" + human.ListFirst(names)
	properties := append(table.Properties(rows...), placeProperties(s.Record, all)...)
	listed := map[table.PropertyKind]int{}
	for _, p := range properties {
		switch {
		case p.Differs() && listed[p.Kind] == maxDifferences:
			v.More++
		case p.Differs():
			listed[p.Kind]++
			v.Differences = append(v.Differences, differenceOf(p, s.Record.Objective, rows))
		case p.Text(0) != "" && len(v.Same) < maxDifferences:
			text := human.Visible(p.Text(0))
			v.Same = append(v.Same, value{human.Truncate(human.Visible(p.Name)),
				human.Truncate(text), text[:min(len(text), maxTitleBytes)]})
		}
	}
	v.Plot, v.Uncurved = m.comparedCurves(s, all)
	return v
}

// placeProperties returns where and when the newest attempts began, as far as rows do not say it.
func placeProperties(r core.Record, all []api.Task) []table.Property {
	image := table.Property{Name: "image", Values: make([]*string, len(all))}
	began := table.Property{Name: "began (UTC)", Values: make([]*string, len(all))}
	for i, t := range all {
		n := len(t.Attempts)
		if n == 0 {
			continue
		}
		a := t.Attempts[n-1]
		if a.Started != nil {
			began.Values[i] = new(a.Started.UTC().Format(time.DateTime))
		}
		var images []string
		for _, name := range r.Images.Names() {
			if slices.Contains(r.Images[name], a.Worker) {
				images = append(images, name)
			}
		}
		if len(images) > 0 {
			image.Values[i] = new(strings.Join(images, ", "))
		}
	}
	return []table.Property{image, began}
}

// differenceOf returns a property in words. Of the objective the best value is strong.
func differenceOf(p table.Property, o metric.Objective, rows []table.Row) differenceLine {
	l := differenceLine{Name: human.Truncate(human.Visible(p.Name))}
	switch p.Kind {
	case table.ParameterProperty:
		l.Group = "parameter"
	case table.MetricProperty:
		l.Group = "metric"
	}
	best := -1
	for i := range rows {
		text := human.Visible(p.Text(i))
		c := cell{Text: human.Truncate(text), Title: text[:min(len(text), maxTitleBytes)],
			Numeric: isNumber(text), State: p.Name == "state" && p.Kind == table.FieldProperty}
		if v, err := strconv.ParseFloat(text, 64); err == nil && l.Group == "metric" {
			c.Text = fourDigits(v)
			if p.Name == o.Metric && table.IsRanked(o, &rows[i]) &&
				(best < 0 || isBetter(o, p.Text(i), p.Text(best))) {
				best = i
			}
		}
		l.Cells = append(l.Cells, c)
	}
	if best >= 0 {
		l.Cells[best].Strong = true
	}
	if l.Group == "metric" && len(slices.CompactFunc(slices.Clone(l.Cells), // rounded alike
		func(a, b cell) bool { return a.Text == b.Text })) == 1 {
		for i := range l.Cells {
			l.Cells[i].Text = l.Cells[i].Title
		}
	}
	return l
}

func isBetter(o metric.Objective, a, b string) bool {
	x, _ := strconv.ParseFloat(a, 64)
	y, _ := strconv.ParseFloat(b, 64)
	return x != y && (x > y) == o.Maximize
}

// comparedCurves draws the curves of the objective over each other, or of the first metric that has
// one; the text says which tasks have none.
func (m *Monitor) comparedCurves(s api.Sweep, all []api.Task) (p *plot, uncurved string) {
	name := s.Record.Objective.Metric
	curved := func(name string) bool {
		return slices.ContainsFunc(all, func(t api.Task) bool {
			return curveNamed(name, t.Series) != nil
		})
	}
	if !curved(name) {
		for _, t := range all {
			if c := curveOf(name, t.Series); c != nil {
				at := slices.IndexFunc(t.Series, func(s metric.Sample) bool {
					return human.Truncate(human.Visible(s.Name)) == c.Metric
				})
				name = t.Series[at].Name
				break
			}
		}
	}
	var lines []drawnLine
	by := byStep
	without := 0
	for _, t := range all {
		points, its := pointsOf(name, t.Series)
		if len(points) == 0 {
			without++
			continue
		}
		if its == byNumber {
			by = its
		}
		label := strconv.FormatInt(t.Row.Index, 10)
		lines = append(lines, drawnLine{label: label, title: "task " + label, points: points,
			url: m.taskURL(s.ID, t.Row.Index), goesOn: t.Row.State == task.Running.String()})
	}
	if len(lines) > maxPlotLines {
		uncurved = fmt.Sprintf("The first %d of %d tasks with a curve are drawn.", maxPlotLines,
			len(lines))
		lines = lines[:maxPlotLines]
	} else if without > 0 && len(lines) > 0 {
		uncurved = human.Plural(int64(without), "task") + " without values."
	}
	for i := range lines {
		lines[i].class = "own own-" + strconv.Itoa(i)
		if by == byNumber {
			number(lines[i].points)
		}
	}
	return newPlot(drawing{caption: captionOf(name, by), by: by, lines: lines}), uncurved
}

// compareLinks are the ways from a sweep's page to a comparison.
type compareLinks struct {
	Action string // of the form of ticked rows
	Best   string // "": fewer than two tasks have a result
	N      int64  // of the best
}

func (m *Monitor) compareLinks(s api.Sweep, best *table.Row) *compareLinks {
	l := &compareLinks{Action: m.compareURL(s.ID)}
	if n := s.Counts[task.Succeeded.String()]; best != nil && n > 1 {
		l.N = min(n, bestCompared)
		l.Best = l.Action + "?" + url.Values{"best": {strconv.FormatInt(l.N, 10)}}.Encode()
	}
	return l
}
