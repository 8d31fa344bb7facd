package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/human"
	"mlframework/sweep/table"
)

// ranking is some combinations of a sweep that repeats them: those with the best means.
type ranking struct {
	by []table.Column  // the repeats of a combination agree in these
	of map[string]bool // by the values of these
}

// bestCombinations ranks by the mean of the objective over the tasks that an expression selects, and
// returns the first so many. Where no value of a combination counts, it has no rank.
func bestCombinations(ctx context.Context, src source, s api.Sweep, where string, top int) (
	best ranking, err error) {
	q := api.Query{Issued: true, Where: where, Top: top}
	page, err := src.Groups(ctx, s.ID, api.GroupQuery{Query: q})
	if e, ok := errors.AsType[*api.Error](err); ok && e.Parameter == "by" {
		return best, cli.Wrong("--where chooses fewer tasks",
			"%s has too many combinations to rank them", s.ID)
	}
	if err != nil {
		return best, err
	}
	for _, name := range page.By {
		column, err := s.Record.Schema().Column(name)
		if err != nil {
			return best, err
		}
		best.by = append(best.by, column)
	}
	best.of = map[string]bool{}
	for _, g := range page.Groups {
		if g.Metrics[s.Record.Objective.Metric].N == 0 {
			continue
		}
		var values []string
		for _, name := range page.By {
			values = append(values, combinationValue(g.By[name]))
		}
		best.of[strings.Join(values, ",")] = true
	}
	return best, nil
}

// has reports whether a task is a repeat of one of the combinations.
func (best ranking) has(r *table.Row) bool {
	values := make([]string, len(best.by))
	for i, column := range best.by {
		if text, ok := column.Text(r); ok {
			values[i] = combinationValue(&text)
		}
	}
	return best.of[strings.Join(values, ",")]
}

// combinationValue is a value that commas can separate from others; nil: absent.
func combinationValue(text *string) string {
	if text == nil {
		return ""
	}
	return strconv.Quote(*text)
}

// chosen says what --top brings: of a sweep that repeats its combinations, how many of them; of
// another, if there are fewer tasks than it names.
func (w fetchPlan) chosen(s api.Sweep, top int, where string) string {
	name, n := "task", int64(w.tasks())
	if w.combinations > 0 {
		name, n = "combination", int64(w.combinations)
	}
	var text string
	if n < int64(top) {
		text = fmt.Sprintf("only %s of %s %s a rank", human.Plural(n, name), s.ID, human.Pick(int(n), "has",
			"have"))
		if where != "" {
			text += ", of those that --where chooses"
		}
	}
	if w.combinations == 0 {
		return text
	}
	if text != "" {
		text += "; "
	}
	return text + fmt.Sprintf("--top is of combinations, ranked by their mean %s over %s, with "+
		"all their repeats: %s; --group-by "+noGroups+" is of single tasks",
		s.Record.Objective.Metric, strings.Join(s.Record.Repeats(), ", "),
		human.Plural(int64(w.tasks()), "task"))
}
