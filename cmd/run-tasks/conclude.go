package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode"

	"golang.org/x/term"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/metric"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// How much the end of a sweep shows; `results` and `show` have all of it.
const (
	bestShown   = 10
	failedShown = 5 // of groups of failures, and of tasks for which it is explained what they lacked
)

// conclude says how a sweep stands once it is idle, and returns the error that gives the exit code.
func (c *command) conclude(ctx context.Context, src source, id string, l look, interrupted bool) error {
	s, err := src.Sweep(ctx, id, true)
	if err != nil {
		return err
	}
	if !l.quiet && !l.json {
		if err := c.report(ctx, src, s); err != nil {
			return err
		}
	}
	c.warnUnkept(s)
	c.warnUnranked(s)
	if s.State == core.Paused {
		reason := ""
		if s.Reason != nil {
			reason = *s.Reason
		}
		fmt.Fprintf(c.stderr, "%s is paused (%s): %s resume %s goes on\n", id, cli.Visible(reason), c.self, id)
	}
	switch {
	case interrupted && s.State != core.Finished:
		return cli.Code(cli.Interrupted)
	case s.Counts[task.Succeeded.String()] < s.Total:
		return cli.Code(cli.Failed)
	}
	return nil
}

// report prints counts, the best tasks, what failed, and where the files are.
func (c *command) report(ctx context.Context, src source, s api.Sweep) error {
	fmt.Fprintf(c.stdout, "\n%s: %s\n", s.ID, outcomeText(s.Summary))
	if err := c.best(ctx, src, s); err != nil {
		return err
	}
	if err := c.failures(ctx, src, s); err != nil {
		return err
	}
	if s.Checks != nil && len(s.Checks.Revisions) > 1 {
		fmt.Fprintf(c.stdout, "\nattempts ran %d revisions of the project: compare them by the column revision\n", len(s.Checks.Revisions))
	}
	if done, _ := tally(s.Summary); done > 0 {
		files := "files: on the workers"
		if m, ok := src.(*remote); ok && m.cluster != nil {
			files = "files: " + c.self + " fetch " + s.ID
		}
		if folder := src.folder(s.ID); folder != "" {
			files = "files: " + folder + string(filepath.Separator)
		}
		fmt.Fprintf(c.stdout, "\n%s   all results: %s results %s\n", files, c.self, s.ID)
	}
	return nil
}

// outcomeText is "24 tasks: 23 succeeded, 1 failed, in 38.2s".
func outcomeText(s core.Summary) string {
	var parts []string
	for _, state := range task.States {
		if n := s.Counts[state.String()]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	text := plural(s.Total, "task") + ": " + strings.Join(parts, ", ")
	if s.Ended != nil {
		text += ", in " + tookText(s)
	}
	return text
}

// ranFor is how long a sweep that has ended ran, without the time in which it waited or was paused.
func ranFor(s core.Summary) time.Duration {
	if s.Ran == 0 { // it is of before that was counted
		return s.Ended.Sub(s.Submitted)
	}
	return time.Duration(s.Ran * float64(time.Second))
}

// tookText is how long a sweep that has ended ran: "38.2s". Where it waited or was paused for longer than a tenth of that it
// is "38.2s (25m08s elapsed)".
func tookText(s core.Summary) string {
	ran, whole := ranFor(s), s.Ended.Sub(s.Submitted)
	text := human.Duration(ran.Seconds())
	if whole-ran <= max(time.Second, ran/10) {
		return text
	}
	return text + " (" + human.Duration(whole.Seconds()) + " elapsed)"
}

func (c *command) best(ctx context.Context, src source, s api.Sweep) error {
	if shown, err := c.bestGroups(ctx, src, s); shown || err != nil {
		return err
	}
	o := s.Record.Objective
	rows, err := bestRows(ctx, src, s, bestShown)
	if err != nil || len(rows) == 0 {
		return err
	}
	title := fmt.Sprintf("best by %s (%s)", o.Metric, o)
	if s.Counts[task.Succeeded.String()] > int64(len(rows)) {
		title = fmt.Sprintf("best %d by %s (%s)", len(rows), o.Metric, o)
	}
	fmt.Fprintln(c.stdout, "\n"+cli.Visible(title))
	return table.WriteText(c.stdout, rows, tableOptions(c.stdout, s))
}

// bestRows are the first tasks of the ranking so far.
func bestRows(ctx context.Context, src source, s api.Sweep, most int) (rows []table.Row,
	err error) {
	o := s.Record.Objective
	if o.IsZero() {
		return nil, nil
	}
	err = src.Rows(ctx, s.ID, api.Query{Best: true, Begun: true, Top: most},
		func(r *table.Row) error {
			if table.IsRanked(o, r) {
				rows = append(rows, *r)
			}
			return nil
		})
	return rows, err
}

// tableOptions fit a table of a sweep's results to where it goes.
func tableOptions(w io.Writer, s api.Sweep) table.TableOptions {
	return table.TableOptions{Width: width(w), Objective: s.Record.Objective,
		Schema: s.Record.Schema(), Location: local()}
}

// width is the number of columns of a terminal, 0 for anything else.
func width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			return columns
		}
	}
	return 0
}

// warnUnread says which metrics matched and were no numbers: they are not in the table, or not as they were printed last.
func (c *command) warnUnread(s api.Sweep) {
	if s.Checks == nil {
		return
	}
	for _, u := range s.Checks.Unread {
		first := task.ID{Sweep: s.ID, Index: u.First}
		fmt.Fprintf(c.stderr, "WARNING: metric %s matched a non-numeric value in %s (first: %s, %s)\n", cli.Visible(u.Metric), plural(u.Tasks, "task"),
			first, cli.Visible(fmt.Sprintf("%q", u.Text)))
	}
}

// nearPath is an absolute path as it is shortest to type here.
func nearPath(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if near, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(near) {
		return near
	}
	return path
}

// warnUnkept says whose output is not whole.
func (c *command) warnUnkept(s api.Sweep) {
	if s.Checks == nil {
		return
	}
	for _, u := range s.Checks.Unkept {
		fmt.Fprintf(c.stderr, "WARNING: output of %s on %s is incomplete: %s\n", plural(u.Tasks, "task"), cli.Visible(u.Host), cli.Visible(u.Error))
	}
}

// warnUnmeasured says why metrics of files are missing.
func (c *command) warnUnmeasured(s api.Sweep) {
	if s.Checks == nil {
		return
	}
	for _, u := range s.Checks.Unmeasured {
		fmt.Fprintf(c.stderr, "WARNING: %s (%s, first: %s)\n", cli.Visible(u.Text), plural(u.Tasks, "task"), task.ID{Sweep: s.ID, Index: u.First})
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
	fmt.Fprintf(c.stderr, "note: tasks are ranked by their last %s, and %s had a better one before (%s: %s (%s), %s last); to rank by it: metrics: {%s}\n",
		cli.Visible(o.Metric), plural(found.Tasks, "task"), task.ID{Sweep: s.ID, Index: found.First}, found.Best, cmp.Or(found.Place, fmt.Sprintf("step %d", found.Step)),
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
		return fmt.Sprintf("%s: {file: %s, %s: %s, take: %s}", scalar(r.Name), quoted(r.File), what, scalar(name), take)
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

// quoted is a text in YAML: between single quotes, or where it has bytes that may not stand there, as in JSON.
func quoted(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		b, _ := json.Marshal(text) // a text always can be
		return string(b)
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// warnFirst says at once, and once, that a task ended well and has no number for the objective, while there are others to come: then
// nothing of the sweep may be ranked.
func (c *command) warnFirst(d display, u api.Update, told *bool) {
	if done, _ := tally(u.Sweep); *told || u.Unranked == nil || done == u.Sweep.Total {
		return
	}
	*told = true
	fmt.Fprintf(d.notes(), "WARNING: %s succeeded without a number for the objective, %s; see what is picked: %s test-metrics %s %s %s\n",
		u.Unranked.Task, cli.Visible(u.Unranked.Metric), c.self,
		human.CommandLine([]string{"-d", nearPath(u.Sweep.Project)}), u.Sweep.Definition,
		u.Unranked.Task)
}

// warnUnranked says loudly which tasks ended well and never printed what they are ranked by.
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
	try := fmt.Sprintf("%s test-metrics %s %s %s", c.self,
		human.CommandLine([]string{"-d", nearPath(s.Project)}), s.Definition, ids[0])
	if s.Checks.Unranked > int64(len(ids)) {
		ids = append(ids, "...")
	}
	objective, all := cli.Visible(s.Record.Objective.Metric), strings.Join(ids, ", ")
	switch silent := s.Checks.Unranked - s.Checks.NaN; {
	case silent == 0:
		fmt.Fprintf(c.stderr, "WARNING: %s succeeded with nan for the objective, %s, and cannot be ranked (%s)\n", plural(s.Checks.NaN, "task"), objective, all)
		return
	case s.Checks.NaN > 0:
		objective += fmt.Sprintf(", and %d with nan for it", s.Checks.NaN)
		fallthrough
	default:
		fmt.Fprintf(c.stderr, "WARNING: no metrics: %s succeeded without printing a number for the objective, %s (%s)\n  see what is picked: %s\n",
			plural(silent, "task"), objective, all, try)
	}
}
