package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// failures prints what failed in the sweep and what to type, similar failures grouped.
func (p *sweepReport) failures(ctx context.Context) error {
	s := p.sweep
	if _, failed := display.Tally(s.Summary); failed == 0 {
		return nil
	}
	f, err := p.src.Failures(ctx, s.ID)
	if err != nil || len(f.Groups) == 0 {
		return err
	}
	fmt.Fprintln(p.stdout)
	shown := f.Groups[:min(failedShown, len(f.Groups))]
	for _, g := range shown {
		fmt.Fprintln(p.stdout, groupText(g))
		if len(shown) > 1 {
			fmt.Fprintln(p.stdout, "    "+logsLine(g, p.self))
		}
	}
	rest := f.Others
	for _, g := range f.Groups[len(shown):] {
		rest += g.Count
	}
	if rest > 0 {
		fmt.Fprintf(p.stdout, "... and %s with other failures: %s results --failures %s\n",
			human.Plural(rest, "task"), p.self, s.ID)
	}
	for _, g := range shown {
		if hint := outsideCopy(s.Record, g.Reason); hint != "" {
			fmt.Fprintln(p.stdout, hint)
			break
		}
	}
	if len(shown) == 1 {
		fmt.Fprintln(p.stdout, "output: "+logsLine(shown[0], p.self))
	}
	fmt.Fprintf(p.stdout, "retry: %s retry %s\n", p.self, s.ID)
	if slices.ContainsFunc(f.Groups, func(g api.FailureGroup) bool {
		return g.Class == task.Error
	}) {
		fmt.Fprintf(p.stdout, "retry with edited files: %s retry --updated %s\n", p.self, s.ID)
	}
	return nil
}

// parentPath matches a path that leads out of a folder.
var parentPath = regexp.MustCompile(`((?:\.\./)+)([^\s'":/]+)([^\s'":]*)`)

// outsideCopy says how tasks find what exists beside their project and not beside their copies of
// it, if the reason of a failure names such a path; else "".
func outsideCopy(r core.Record, reason string) string {
	path := parentPath.FindStringSubmatch(reason)
	if path == nil || r.Recipe.Workdir != "" || !exists(filepath.Join(r.Project, path[0])) {
		return ""
	}
	return cli.Visible(fmt.Sprintf("tasks run in a copy of the project, where %s does not exist: "+
		"read %s, and add `links: {%s: %s}` to tasks.yml", path[0], path[2]+path[3], path[2],
		filepath.Join(r.Project, path[1], path[2])))
}

// groupText is "412 x error: exit code 1: CUDA out of memory (first: run-3/17 on gpu2), where
// batchsize = 512".
func groupText(g api.FailureGroup) string {
	first := ""
	if g.Count > 1 {
		first = "first: "
	}
	text := fmt.Sprintf("%d x %s", g.Count, g.Class)
	if g.Reason != "" {
		text += ": " + human.WithFrame(g.Reason, g.Frame)
	}
	text += " (" + first + g.Task
	if g.Host != nil {
		text += " on " + *g.Host
	}
	text += ")"
	if g.Where != nil {
		text += ", where " + *g.Where
	}
	return cli.Visible(text)
}

// logsLine is the command that shows what the first task of a group printed.
func logsLine(g api.FailureGroup, self string) string { return self + " logs " + g.Task }

// failureLine is a group of failures as --json has it; what is in none of them has a count alone.
type failureLine struct {
	Count  int64   `json:"count"`
	Class  *string `json:"class"`
	Reason *string `json:"reason"`
	Frame  *string `json:"frame"` // file and line, if it is one for all of them
	Task   *string `json:"task"`  // the first
	Host   *string `json:"host"`
	Where  *string `json:"where"` // a filter: what they have in common
	Logs   *string `json:"logs"`  // the command that shows what it printed
}

// failureLines are failures as --json has them.
func failureLines(f api.Failures, self string) []failureLine {
	all := []failureLine{}
	for _, g := range f.Groups {
		class, logs := string(g.Class), logsLine(g, self)
		all = append(all, failureLine{g.Count, &class, &g.Reason, g.Frame, &g.Task, g.Host, g.Where,
			&logs})
	}
	if f.Others > 0 {
		all = append(all, failureLine{Count: f.Others})
	}
	return all
}

// failures is `run-tasks results --failures`.
func (o resultsOptions) failures(ctx context.Context, src source, t *terminal) error {
	s, err := findSweep(ctx, t, src, o.sweep, o.format == "")
	if err != nil {
		return err
	}
	f, err := src.Failures(ctx, s.ID)
	if err != nil {
		return err
	}
	switch {
	case o.format == api.CSV:
		return writeFailuresCSV(t.stdout, f, t.self)
	case o.format == api.JSON:
		for _, l := range failureLines(f, t.self) {
			if err := encode(t.stdout, l); err != nil {
				return err
			}
		}
		return nil
	case len(f.Groups) == 0:
		fmt.Fprintln(t.stdout, "no task failed")
		return nil
	}
	for _, g := range f.Groups {
		fmt.Fprintf(t.stdout, "%s\n    %s\n", groupText(g), logsLine(g, t.self))
	}
	if f.Others > 0 {
		fmt.Fprintf(t.stdout, "... and %s with other failures\n", human.Plural(f.Others, "task"))
	}
	return nil
}

func writeFailuresCSV(w io.Writer, f api.Failures, self string) error {
	out := csv.NewWriter(w)
	lines := [][]string{{"count", "class", "reason", "frame", "task", "host", "where", "logs"}}
	for _, g := range f.Groups {
		frame, host, where := optional(g.Frame), optional(g.Host), optional(g.Where)
		lines = append(lines, []string{strconv.FormatInt(g.Count, 10), string(g.Class),
			table.CSVText(g.Reason), table.CSVText(frame), g.Task, table.CSVText(host),
			table.CSVText(where), logsLine(g, self)})
	}
	if f.Others > 0 {
		lines = append(lines, []string{strconv.FormatInt(f.Others, 10), "", "", "", "", "", "", ""})
	}
	return out.WriteAll(lines)
}

func optional(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
