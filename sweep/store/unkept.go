package store

import "context"

// Unkept counts, by host, the tasks of a sweep whose newest attempt printed what could not be kept; each with one of the causes.
// What was cut at the ceiling is not among them.
func (r *Reader) Unkept(ctx context.Context, s Sweep) (all []Unkept, err error) {
	rows, err := r.db.QueryContext(ctx, `SELECT coalesce(host, ''), count(*), min(coalesce(json_extract(output, '$.stdout.error'), json_extract(output, '$.stderr.error')))
		FROM tasks WHERE sweep = ? AND instr(output, '"error":') > 0 GROUP BY host ORDER BY host`, s.Seq)
	if err != nil {
		return nil, readable(err)
	}
	defer rows.Close()
	for rows.Next() {
		var u Unkept
		if err := rows.Scan(&u.Host, &u.Tasks, &u.Error); err != nil {
			return nil, readable(err)
		}
		all = append(all, u)
	}
	return all, readable(rows.Err())
}

// Unkept is tasks on one host whose output was not kept in full.
type Unkept struct {
	Host  string
	Tasks int64
	Error string
}
