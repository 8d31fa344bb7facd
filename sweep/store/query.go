package store

import (
	"strings"

	"mlframework/sweep/task"
)

// Query chooses tasks of one sweep; the zero value is every task that has a row, by index.
type Query struct {
	States []task.State // none: all
	From   int64        // indexes below it are left out
	Best   int          // -1: lowest objective first, 1: highest first; only tasks that have one
	Limit  int          // 0: all
}

const selectTasks = `SELECT idx, state, cancelling, charged, not_before, tries, ` + tryColumns + ` FROM tasks`

// sql is the query's text and arguments. SQLite knows nothing about how many rows are in which state, so the text says
// which index to use.
func (q Query) sql(seq int64) (text string, args []any) {
	if q.Best != 0 {
		text, args = q.best(seq)
	} else {
		text, args = q.byIndex(seq)
	}
	if q.Limit > 0 {
		text += ` LIMIT ?`
		args = append(args, q.Limit)
	}
	return text, args
}

// byIndex is tasks in the order of their index: one range for each state, which SQLite merges as it reads, so that the
// first page of a million failed tasks costs no more than the page.
func (q Query) byIndex(seq int64) (text string, args []any) {
	if len(q.States) == 0 {
		return selectTasks + ` WHERE sweep = ? AND idx >= ? ORDER BY idx`, []any{seq, q.From}
	}
	var ranges []string
	for _, s := range q.States {
		ranges = append(ranges, selectTasks+rangeOf(s)+` AND sweep = ? AND state = ? AND idx >= ?`)
		args = append(args, seq, int64(s), q.From)
	}
	return strings.Join(ranges, ` UNION ALL `) + ` ORDER BY idx`, args
}

// rangeOf names the index that has the tasks of a state, and repeats its condition, without which SQLite does not use it.
// Tasks that succeeded, the many, have none.
func rangeOf(s task.State) string {
	switch {
	case s < task.Succeeded:
		return ` INDEXED BY tasks_open WHERE state < 4`
	case s > task.Succeeded:
		return ` INDEXED BY tasks_bad WHERE state > 4`
	}
	return ` WHERE true`
}

// best is tasks that have a value of the objective, in its order. The plus signs keep SQLite from other indexes.
func (q Query) best(seq int64) (text string, args []any) {
	text, args = selectTasks+` INDEXED BY tasks_best WHERE sweep = ? AND objective IS NOT NULL AND +idx >= ?`, []any{seq, q.From}
	if len(q.States) > 0 {
		text += ` AND +state IN (?` + strings.Repeat(`,?`, len(q.States)-1) + `)`
		for _, s := range q.States {
			args = append(args, int64(s))
		}
	}
	if q.Best > 0 {
		return text + ` ORDER BY objective DESC, idx`, args
	}
	return text + ` ORDER BY objective, idx`, args
}
