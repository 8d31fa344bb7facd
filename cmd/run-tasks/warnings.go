package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// warnMissing says what a master's workers tell and its store does not know.
func (c *command) warnMissing(ctx context.Context, src source) {
	m, ok := src.(*remote)
	if !ok {
		return
	}
	h, err := m.Health(ctx)
	if err != nil {
		return // what was asked for has its own answer
	}
	for _, w := range h.Warnings {
		fmt.Fprintln(c.stderr, "WARNING: "+cli.Visible(w.String()))
	}
}

// warnUnread says which metrics matched and were no numbers: they are not in the table, or not as
// they were printed last.
func (c *command) warnUnread(s api.Sweep) {
	if s.Checks == nil {
		return
	}
	for _, u := range s.Checks.Unread {
		first := task.ID{Sweep: s.ID, Index: u.First}
		fmt.Fprintf(c.stderr, "WARNING: metric %s matched a non-numeric value in %s (first: %s, "+
			"%s)\n", cli.Visible(u.Metric), plural(u.Tasks, "task"),
			first, cli.Visible(fmt.Sprintf("%q", u.Text)))
	}
}

// warnUnkept says whose output is not whole.
func (c *command) warnUnkept(s api.Sweep) {
	if s.Checks == nil {
		return
	}
	for _, u := range s.Checks.Unkept {
		fmt.Fprintf(c.stderr, "WARNING: output of %s on %s is incomplete: %s\n", plural(u.Tasks,
			"task"), cli.Visible(u.Host), cli.Visible(u.Error))
	}
}

// warnUnmeasured says why metrics of files are missing.
func (c *command) warnUnmeasured(s api.Sweep) {
	if s.Checks == nil {
		return
	}
	for _, u := range s.Checks.Unmeasured {
		fmt.Fprintf(c.stderr, "WARNING: %s (%s, first: %s)\n", cli.Visible(u.Text), plural(u.Tasks,
			"task"), task.ID{Sweep: s.ID, Index: u.First})
	}
}

// noteSurpassed says which tasks were better than what they are ranked by.
func (c *command) noteSurpassed(s api.Sweep) {
	if s.Checks == nil || s.Checks.Surpassed == nil {
		return
	}
	found, o := s.Checks.Surpassed, s.Record.Objective
	rule, take := metric.Rule{Name: o.Metric}, metric.Min
	for _, r := range s.Record.Recipe.Metrics {
		if r.Name == o.Metric {
			rule = r
		}
	}
	if o.Maximize {
		take = metric.Max
	}
	fmt.Fprintf(c.stderr, "note: tasks are ranked by their last %s, and %s had a better one "+
		"before (%s: %s (%s), %s last); to rank by it: metrics: {%s}\n",
		cli.Visible(o.Metric), plural(found.Tasks, "task"), task.ID{Sweep: s.ID,
			Index: found.First}, found.Best, cmp.Or(found.Place, fmt.Sprintf("step %d",
			found.Step)),
		found.Last, cli.Visible(writtenRule(rule, take)))
}

// writtenRule is a metric as it is written in tasks.yml, with what to take.
func writtenRule(r metric.Rule, take metric.Take) string {
	switch {
	case r.File != "":
		what, name := "tag", r.Tag
		if r.Column != "" {
			what, name = "column", r.Column
		} else if r.Key != "" {
			what, name = "key", r.Key
		}
		return fmt.Sprintf("%s: {file: %s, %s: %s, take: %s}", scalar(r.Name), quoted(r.File), what,
			scalar(name), take)
	case r.Pattern == "":
		return fmt.Sprintf("%s: {take: %s}", scalar(r.Name), take)
	}
	return fmt.Sprintf("%s: {pattern: %s, take: %s}", scalar(r.Name), quoted(r.Pattern), take)
}

// bareText is of texts that YAML reads as they are between braces.
var bareText = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*$`)

// reservedText is of texts that stand for something else in YAML.
var reservedText = regexp.MustCompile(`(?i)^(true|false|yes|no|on|off|y|n|null)$`)

// scalar is a text in YAML between braces.
func scalar(text string) string {
	if bareText.MatchString(text) && !reservedText.MatchString(text) {
		return text
	}
	return quoted(text)
}

// quoted is a text in YAML: between single quotes, or where it has bytes that may not stand there,
// as in JSON.
func quoted(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		b, _ := json.Marshal(text) // a text always can be
		return string(b)
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// warnFirst says at once, and once, that a task ended well and has no number for the objective,
// while there are others to come: then nothing of the sweep may be ranked.
func (c *command) warnFirst(d display.Display, u api.Update, told *bool) {
	if done, _ := display.Tally(u.Sweep); *told || u.Unranked == nil || done == u.Sweep.Total {
		return
	}
	*told = true
	fmt.Fprintf(d.Notes(), "WARNING: %s succeeded without a number for the objective, %s; %s\n",
		u.Unranked.Task, cli.Visible(u.Unranked.Metric),
		c.tryMetrics(u.Sweep, c.argv != nil, u.Unranked.Task))
}

// tryMetrics says how to see why a task has no metric.
func (c *command) tryMetrics(s core.Summary, typed bool, of string) string {
	if typed {
		return fmt.Sprintf("compare --metric with its output: %s logs %s", c.self, of)
	}
	return fmt.Sprintf("see what is picked: %s test-metrics %s %s %s", c.self,
		human.CommandLine([]string{"-d", nearPath(s.Project)}), s.Definition, of)
}

// warnUnranked warns of tasks that succeeded without a value of the objective.
func (c *command) warnUnranked(s api.Sweep) {
	c.warnUnread(s)
	c.warnUnmeasured(s)
	c.noteSurpassed(s)
	if s.Checks == nil || s.Checks.Unranked == 0 || len(s.Checks.First) == 0 {
		return
	}
	var ids []string
	for _, i := range s.Checks.First {
		ids = append(ids, task.ID{Sweep: s.ID, Index: i}.String())
	}
	try := c.tryMetrics(s.Summary, s.Record.CommandLine, ids[0])
	if s.Checks.Unranked > int64(len(ids)) {
		ids = append(ids, "...")
	}
	objective, all := cli.Visible(s.Record.Objective.Metric), strings.Join(ids, ", ")
	switch silent := s.Checks.Unranked - s.Checks.NaN; {
	case silent == 0:
		fmt.Fprintf(c.stderr, "WARNING: %s succeeded with nan for the objective, %s, and cannot "+
			"be ranked (%s)\n", plural(s.Checks.NaN, "task"), objective, all)
		return
	case s.Checks.NaN > 0:
		objective += fmt.Sprintf(", and %d with nan for it", s.Checks.NaN)
		fallthrough
	default:
		fmt.Fprintf(c.stderr, "WARNING: no metrics: %s succeeded without a number for the "+
			"objective, %s (%s)\n  %s\n",
			plural(silent, "task"), objective, all, try)
	}
}
