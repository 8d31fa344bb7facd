package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"mlframework/sweep/task"
)

// AttemptWorker is where an attempt of a task was placed.
type AttemptWorker struct {
	Worker string // "": the attempt does not exist, or its worker gave it back before it began
	Newest int    // the number of the task's newest attempt; 0: it has none
}

// AttemptWorker returns where an attempt of a task was placed, by the id of its sweep. An attempt
// is on disk before its worker can know of it. The error is *DamagedTask where the row cannot be
// read.
func (r *Reader) AttemptWorker(ctx context.Context, sweep string, index int64, attempt int) (
	p AttemptWorker, err error) {
	const query = `SELECT attempt, CASE WHEN attempt = ?3 AND worker <> '' THEN worker
		ELSE coalesce((
			SELECT worker FROM attempts AS a
			WHERE a.sweep = t.sweep AND a.idx = t.idx AND a.attempt = ?3 AND a.superseded = 0
		), '') END
		FROM tasks AS t WHERE sweep = (SELECT seq FROM sweeps WHERE id = ?1) AND idx = ?2`
	var newest, worker any
	err = r.db.QueryRowContext(ctx, query, sweep, index, attempt).Scan(&newest, &worker)
	if errors.Is(err, sql.ErrNoRows) {
		return AttemptWorker{}, nil
	}
	if err != nil {
		return AttemptWorker{}, readable(err)
	}
	number, isNumber := newest.(int64)
	name, isText := worker.(string)
	if !isNumber || !isText {
		return AttemptWorker{}, &DamagedTask{task.ID{Sweep: sweep, Index: index},
			fmt.Errorf("%v is not the number of an attempt, or %v is not a worker", newest, worker)}
	}
	return AttemptWorker{Worker: name, Newest: int(number)}, nil
}
