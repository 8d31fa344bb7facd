package store

import (
	"strconv"
	"strings"

	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// TaskQuery chooses tasks of one sweep; the zero value is every task that has a row, by index.
type TaskQuery struct {
	States []task.State // none: all
	From   int64        // indexes below it are left out
	Best   int          // -1: lowest objective first, 1: highest first; only tasks that have one
	Limit  int          // 0: all
	// Indexes are the tasks, those of them that have a row; it excludes States, From and Best. nil:
	// all.
	Indexes []int64
	// Fields are what is read of each task beside its index and state; 0: everything. Others are as
	// they are in the zero Task.
	Fields table.Fields
	// Metrics are those that are looked at, if Fields has them; others may be missing. nil: all.
	Metrics []string
	// Frames reads the frames of failures, too.
	Frames bool
}

const (
	taskColumns = `idx, state, cancelling, charged, not_before, lapsed, tries, since, failed, fresh, bytes, ` + attemptColumns
	selectTasks = `SELECT ` + taskColumns + ` FROM tasks`
)

func (q TaskQuery) selected() string { return `SELECT ` + q.columns() + ` FROM tasks` }

// sql returns the query's text and arguments. SQLite knows nothing about how many rows are in which
// state, so the text says which index to use.
func (q TaskQuery) sql(seq int64) (text string, args []any) {
	if q.Indexes != nil {
		text, args = q.byIndexes(seq)
	} else if q.Best != 0 {
		text, args = q.best(seq)
	} else {
		text, args = q.byIndex(seq)
	}
	if q.Limit > 0 {
		text += ` LIMIT ?`
		args = append(args, int64(q.Limit))
	}
	return text, args
}

// byIndex returns tasks in the order of their index: one range for each state, which SQLite merges
// as it reads, so that the first page of a million failed tasks costs no more than the page.
func (q TaskQuery) byIndex(seq int64) (text string, args []any) {
	if len(q.States) == 0 {
		return q.selected() + ` WHERE sweep = ? AND idx >= ? ORDER BY idx`, []any{seq, q.From}
	}
	var ranges []string
	for _, s := range q.States {
		ranges = append(ranges, q.selected()+rangeOf(s)+` AND sweep = ? AND state = ? AND idx >= ?`)
		args = append(args, seq, int64(s), q.From)
	}
	return strings.Join(ranges, ` UNION ALL `) + ` ORDER BY idx`, args
}

// byIndexes returns single tasks, in the order of their index.
func (q TaskQuery) byIndexes(seq int64) (text string, args []any) {
	list := []byte{'['}
	for i, index := range q.Indexes {
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendInt(list, index, 10)
	}
	return q.selected() +
			` WHERE sweep = ? AND idx IN (SELECT value FROM json_each(?)) ORDER BY idx`, []any{seq,
			string(append(list, ']'))}
}

// rangeOf names the index that has the tasks of a state, and repeats its condition, without which
// SQLite does not use it. Tasks that succeeded, the many, have none.
func rangeOf(s task.State) string {
	switch {
	case s < task.Succeeded:
		return ` INDEXED BY tasks_open WHERE state < 4`
	case s > task.Succeeded:
		return ` INDEXED BY tasks_bad WHERE state > 4`
	}
	return ` WHERE true`
}

// best returns tasks that have a value of the objective, in its order. The plus signs keep SQLite
// from other indexes.
func (q TaskQuery) best(seq int64) (text string, args []any) {
	text, args = q.selected()+
		` INDEXED BY tasks_best WHERE sweep = ? AND objective IS NOT NULL AND +idx >= ?`, []any{seq,
		q.From}
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
