package monitor

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/expr"
	"mlframework/sweep/human"
	"mlframework/sweep/table"
)

const (
	// effectsOnPage is how many parameters a sweep's page shows, and how many values of each.
	effectsOnPage, effectValues = 8, 12
	// leastEffects is from how many values of the objective on parameters are compared.
	leastEffects = 4
)

// effectsView is how the objective of a sweep depends on its parameters.
type effectsView struct {
	Metric, Method string
	Low, High      string // of the scale
	Logarithmic    bool
	More           string // the page of plots of several parameters
	Parameters     []effectLine

	due time.Duration // as in askRarely
}

// effectLine is one parameter.
type effectLine struct {
	Name, Share string
	Values      []effectRange
}

// effectRange is how the objective is distributed over the tasks with one value. Places are in
// percent of the scale; without a task that has a value they are empty.
type effectRange struct {
	Text, Title, URL                string
	Median, Best                    string // as text
	P05, P25, Mid, P75, P95, BestAt string
	Tasks                           string
	FailedShare                     string // percent of the tasks; "": none failed
}

// askEffects asks how the objective of a sweep depends on its parameters; nil where there is too
// little.
func (m *Monitor) askEffects(ctx context.Context, s api.Sweep, where string, version int64) (
	*effectsView, error) {
	if s.Record.Objective.IsZero() || ended(s.Summary) < leastEffects {
		return nil, nil
	}
	e, due, err := askRarely(ctx, m.answers, rareKey("effects", s, where), version,
		func(ctx context.Context) (*api.Effects, error) {
			e, err := m.o.Master.Effects(ctx, s.ID, api.PlotQuery{Where: where})
			if refusal(err) != nil {
				return nil, nil // the filter's fault is told with the table
			}
			return &e, err
		})
	if err != nil || e.value == nil {
		return nil, err
	}
	v := m.effects(s.ID, where, *e.value)
	if v != nil {
		v.due = due
	}
	return v, nil
}

// effects returns effects in words and places; nil where there is nothing to compare.
func (m *Monitor) effects(sweep, where string, e api.Effects) *effectsView {
	if e.Points < leastEffects || len(e.Parameters) == 0 {
		return nil
	}
	scale := e.Scale()
	v := effectsView{Metric: human.Truncate(human.Visible(e.Metric)),
		Method: fmt.Sprintf("share of the variance that each explains alone, over %d tasks", e.Points),
		Low:    fourDigits(scale.Low), High: fourDigits(scale.High),
		Logarithmic: scale.Logarithmic, More: m.plotsURL(sweep, where)}
	if n := e.Without - e.Failed; n > 0 {
		v.Method += fmt.Sprintf("; %d more ended without a number", n)
	}
	v.Method += "; dot: median, ring: best, bar: middle half, red: share that failed"
	at := func(n *float64) string {
		if n == nil {
			return ""
		}
		return inPercent(scale.At(*n))
	}
	for _, p := range e.Parameters[:min(len(e.Parameters), effectsOnPage)] {
		line := effectLine{Name: human.Truncate(human.Visible(p.Name)), Share: "no share"}
		if p.Share != nil {
			line.Share = strconv.Itoa(int(math.Round(100**p.Share))) + " %"
		}
		for _, one := range p.Values[:min(len(p.Values), effectValues)] {
			r := effectRange{Text: human.Truncate(human.Visible(one.Value)),
				Title: human.Visible(one.Value)[:min(len(human.Visible(one.Value)), maxTitleBytes)],
				P05:   at(one.P05), P25: at(one.P25), Mid: at(one.Median), P75: at(one.P75),
				P95: at(one.P95), BestAt: at(one.Best),
				Tasks: count(one.Tasks)}
			if one.Median != nil {
				r.Median, r.Best = fourDigits(*one.Median), fourDigits(*one.Best)
			}
			if one.Failed > 0 {
				r.FailedShare = inPercent(float64(one.Failed) / float64(one.Tasks))
			}
			if term := effectTerm(p.Name, one.Value); term != "" {
				if where != "" {
					term = "(" + where + ") and " + term
				}
				r.URL = m.sweepURL(sweep) + "?" + url.Values{"where": {term}}.Encode()
			}
			line.Values = append(line.Values, r)
		}
		v.Parameters = append(v.Parameters, line)
	}
	return &v
}

func inPercent(share float64) string { return strconv.FormatFloat(100*share, 'f', 2, 64) + "%" }

// effectTerm returns the filter for a value of a parameter, or for a range of values; "": there is
// none.
func effectTerm(name, value string) string {
	column := expr.Name(table.ParameterName(name))
	from, to, isRange := strings.Cut(value, " to ")
	_, first := strconv.ParseFloat(from, 64)
	_, second := strconv.ParseFloat(to, 64)
	switch {
	case value == "":
		return ""
	case isRange && first == nil && second == nil:
		return column + " >= " + from + " and " + column + " <= " + to
	}
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		return column + " = " + value
	}
	return column + " = " + expr.Quote(value)
}
