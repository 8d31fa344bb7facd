package monitor

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/human"
)

// plotsView is how the objective of a sweep depends on several parameters at once.
type plotsView struct {
	Sweep, SweepURL string
	Path            string
	Form            filterForm
	Metric          string
	Of              string // which tasks are drawn
	None            string // why none are
	Parallel        *parallelView
	Undrawn         int // parameters that have no axis
	Heat            *heatMap
}

// plotsURL returns the page of a sweep's plots under a filter.
func (m *Monitor) plotsURL(sweep, where string) string {
	at := m.sweepURL(sweep) + "/plots"
	if where != "" {
		at += "?" + url.Values{"where": {where}}.Encode()
	}
	return at
}

// plotPoints is points as the master answered them, with the order in which their parameters matter.
type plotPoints struct {
	api.Points
	order []string
	wrong *api.Error // a question that it refused
}

func (m *Monitor) askPoints(ctx context.Context, s api.Sweep, where string, version int64) (
	reply[plotPoints], time.Duration, error) {
	return askRarely(ctx, m.answers, rareKey("points", s, where), version,
		func(ctx context.Context) (p plotPoints, err error) {
			q := api.PlotQuery{Where: where}
			if p.Points, err = m.o.Master.Points(ctx, s.ID, q); err == nil {
				var e api.Effects
				e, err = m.o.Master.Effects(ctx, s.ID, q)
				for _, parameter := range e.Parameters {
					p.order = append(p.order, parameter.Name)
				}
			}
			if p.wrong = refusal(err); p.wrong != nil {
				return p, nil
			}
			return p, err
		})
}

func (m *Monitor) loadPlots(r *request) (*content, error) {
	s, err := m.askSweep(r.Context(), r.PathValue("sweep"), r.version)
	if err != nil {
		return nil, err
	}
	where := readQuery(r.Request).where
	id := s.value.ID
	v := plotsView{Sweep: human.Visible(id), SweepURL: m.sweepURL(id), Path: m.plotsURL(id, ""),
		Form: filterForm{Where: where, Clear: m.plotsURL(id, "")}}
	c := m.warned(r, &content{title: v.Sweep + " plots", asOf: s.asOf})
	if s.value.Record.Objective.IsZero() {
		v.None = "The sweep has no objective, so there is nothing to compare parameters by."
		c.view = v
		return c, nil
	}
	p, due, err := m.askPoints(r.Context(), s.value, where, r.version)
	if err != nil {
		return nil, err
	}
	c.asOf, c.refresh = p.asOf, due
	if wrong := p.value.wrong; wrong != nil {
		v.Form.Wrong, v.None = pointAt(where, wrong), "The filter cannot be read."
	} else {
		m.drawPlots(&v, r, id, where, p.value)
	}
	c.view = v
	return c, nil
}

// drawPlots draws points.
func (m *Monitor) drawPlots(v *plotsView, r *request, id, where string, p plotPoints) {
	v.Metric = human.Truncate(human.Visible(p.Metric))
	columns := varying(p.Points, p.order)
	term := func(terms ...string) string {
		if slices.Contains(terms, "") {
			return ""
		}
		if where != "" {
			terms = append([]string{"(" + where + ")"}, terms...)
		}
		return m.sweepURL(id) + "?" + url.Values{"where": {strings.Join(terms, " and ")}}.Encode()
	}
	v.Parallel = parallel(p.Points, columns, func(index int64) string { return m.taskURL(id, index) },
		func(one string) string { return term(one) })
	v.Undrawn = max(0, len(columns)-maxAxes)
	q := r.URL.Query()
	v.Heat = newHeatMap(p.Points, columns, q.Get("x"), q.Get("y"), func(x, y [2]string) string {
		return term(effectTerm(x[0], x[1]), effectTerm(y[0], y[1]))
	})
	n := int64(len(p.Indexes))
	switch {
	case p.Tasks == 0:
		v.None = "No task has a value of " + v.Metric + " so far."
	case n == 1:
		v.None = "Only one task has a value of " + v.Metric + "."
	case len(columns) == 0:
		v.None = "No parameter has several values in these tasks."
	case n < p.Tasks:
		v.Of = count(n) + " of " + count(p.Tasks) + " tasks, a sample with the best"
	default:
		v.Of = human.Plural(n, "task")
	}
}
