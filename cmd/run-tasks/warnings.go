package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/cmd/run-tasks/project"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// healthWarnings are what a master's workers report and its store does not know.
func healthWarnings(ctx context.Context, src source) (texts []string) {
	m, ok := src.(*remote)
	if !ok {
		return nil
	}
	h, err := m.Health(ctx)
	if err != nil {
		return nil // the command reports its own error
	}
	for _, w := range h.Warnings {
		texts = append(texts, w.String())
	}
	return texts
}

// damagedWarnings name the sweeps of which only a part could be listed.
func damagedWarnings(sweeps []core.Summary) (texts []string) {
	for _, s := range sweeps {
		if s.Revision == "" && s.Reason != nil {
			texts = append(texts, s.ID+": "+*s.Reason)
		}
	}
	return texts
}

// unkeptWarnings say of which tasks the output is incomplete.
func unkeptWarnings(s api.Sweep) (texts []string) {
	if s.Checks == nil {
		return nil
	}
	for _, u := range s.Checks.Unkept {
		texts = append(texts, fmt.Sprintf("output of %s on %s is incomplete: %s",
			human.Plural(u.Tasks, "task"), u.Host, u.Error))
	}
	return texts
}

// unreadWarnings say which metrics matched something that is not a number, and which files with
// metrics could not be read.
func unreadWarnings(s api.Sweep) (texts []string) {
	if s.Checks == nil {
		return nil
	}
	for _, u := range s.Checks.Unread {
		texts = append(texts, fmt.Sprintf("metric %s matched a non-numeric value in %s (first: %s, "+
			"%q)", u.Metric, human.Plural(u.Tasks, "task"), task.ID{Sweep: s.ID, Index: u.First}, u.Text))
	}
	for _, u := range s.Checks.Unmeasured {
		texts = append(texts, fmt.Sprintf("%s (%s, first: %s)", u.Text, human.Plural(u.Tasks, "task"),
			task.ID{Sweep: s.ID, Index: u.First}))
	}
	return texts
}

// surpassedNotes say which tasks had a better value than the one that they are ranked by.
func surpassedNotes(s api.Sweep) []string {
	if s.Checks == nil || s.Checks.Surpassed == nil {
		return nil
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
	return []string{fmt.Sprintf("tasks are ranked by their last %s, and %s had a better one "+
		"before (%s: %s (%s), %s last); to rank by it: metrics: {%s}", o.Metric,
		human.Plural(found.Tasks, "task"), task.ID{Sweep: s.ID, Index: found.First}, found.Best,
		cmp.Or(found.Place, fmt.Sprintf("step %d", found.Step)), found.Last,
		writtenRule(rule, take))}
}

// unrankedWarning says which tasks succeeded without a value of the objective, and how to see why;
// "" if there are none.
func unrankedWarning(s api.Sweep, self string) (warning, remedy string) {
	if s.Checks == nil || s.Checks.Unranked == 0 || len(s.Checks.First) == 0 {
		return "", ""
	}
	var ids []string
	for _, i := range s.Checks.First {
		ids = append(ids, task.ID{Sweep: s.ID, Index: i}.String())
	}
	remedy = patternText(s) + tryMetrics(s.Summary, self, s.Record.CommandLine, ids[0])
	if s.Checks.Unranked > int64(len(ids)) {
		ids = append(ids, "...")
	}
	objective, all := s.Record.Objective.Metric, strings.Join(ids, ", ")
	silent := s.Checks.Unranked - s.Checks.NaN
	if silent == 0 {
		return fmt.Sprintf("%s succeeded with nan for the objective, %s, and cannot be ranked (%s)",
			human.Plural(s.Checks.NaN, "task"), objective, all), ""
	}
	if s.Checks.NaN > 0 {
		objective += fmt.Sprintf(", and %d with nan for it", s.Checks.NaN)
	}
	return fmt.Sprintf("no metrics: %s succeeded without a number for the objective, %s (%s)",
		human.Plural(silent, "task"), objective, all), remedy
}

// patternText is a line that says how the objective of a sweep is looked for in output; "" if it is
// not.
func patternText(s api.Sweep) string {
	for _, r := range s.Record.Recipe.Metrics {
		if r.Name == s.Record.Objective.Metric && r.Pattern != "" {
			return "the pattern " + cli.Visible(r.Pattern) + " matched no number\n  "
		}
	}
	return ""
}

// tryMetrics says how to see why a task has no metric.
func tryMetrics(s core.Summary, self string, typed bool, of string) string {
	if typed {
		return fmt.Sprintf("compare --metric with its output: %s logs %s", self, of)
	}
	words := []string{"-d", project.NearPath(s.Project), s.Definition, of}
	if words[1] == "." {
		words = words[2:]
	}
	return "see what is picked: " + self + " test-metrics " + human.CommandLine(words)
}

// firstWarning is the warning that the first task of a sweep succeeded without a number for the
// objective, while others are to come; "" if an update is none.
func firstWarning(u api.Update, self string, typed bool) string {
	if done, _ := display.Tally(u.Sweep); u.Unranked == nil || done == u.Sweep.Total {
		return ""
	}
	return fmt.Sprintf("%s succeeded without a number for the objective, %s; %s", u.Unranked.Task,
		u.Unranked.Metric, tryMetrics(u.Sweep, self, typed, u.Unranked.Task))
}

// warnMetrics prints what is wrong with the metrics of a sweep.
func warnMetrics(t *terminal, s api.Sweep) {
	t.warn(unreadWarnings(s)...)
	t.note(surpassedNotes(s)...)
	if warning, remedy := unrankedWarning(s, t.self); warning != "" {
		t.warn(warning)
		if remedy != "" {
			fmt.Fprintln(t.stderr, "  "+remedy)
		}
	}
}
