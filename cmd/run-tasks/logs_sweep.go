package main

import (
	"context"
	"fmt"
	"io"
	"sync"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/api"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// sweepLogs prints the output of every task of a sweep, each line with its task.
type sweepLogs struct {
	*terminal
	src   source
	sweep api.Sweep

	begun map[int64]bool // tasks whose output is printed
	tails sync.WaitGroup // of running tasks

	mu     sync.Mutex
	failed bool // the output of a task could not be read
}

// print prints what tasks have printed so far, and with follow what they print until the sweep is
// idle. Output that cannot be read is noted, and the exit code is 1.
func (l *sweepLogs) print(ctx context.Context, follow bool) error {
	l.begun = map[int64]bool{}
	err := l.rest(ctx, follow)
	if err == nil && follow {
		err = l.src.follow(ctx, api.StartedSweep{Summary: l.sweep.Summary}, api.DetailTasks,
			func(u api.Update) error {
				for i := range u.Rows {
					l.begin(ctx, &u.Rows[i], true)
				}
				return nil
			})
	}
	if err == nil && follow { // tasks that began unseen
		err = l.rest(ctx, true)
	}
	l.tails.Wait()
	switch {
	case ctx.Err() != nil:
		return cli.Code(cli.Interrupted)
	case err == nil && l.failed:
		return cli.Code(cli.Failed)
	}
	return err
}

// rest begins with the tasks that are not begun, in the order of their indexes.
func (l *sweepLogs) rest(ctx context.Context, follow bool) error {
	var rows []table.Row
	err := l.src.Rows(ctx, l.sweep.ID, api.Query{Issued: true}, func(r *table.Row) error {
		rows = append(rows, table.Row{ID: r.ID, Index: r.Index, Host: r.Host, State: r.State,
			Started: r.Started})
		return nil
	})
	for i := range rows {
		l.begin(ctx, &rows[i], follow)
	}
	return err
}

// begin prints the output of a task. That of a running one is followed in a goroutine.
func (l *sweepLogs) begin(ctx context.Context, r *table.Row, follow bool) {
	if r.Started == nil || l.begun[r.Index] || ctx.Err() != nil {
		return
	}
	l.begun[r.Index] = true
	id, host := r.ID, r.Host
	q := outputQuery{id: task.ID{Sweep: l.sweep.ID, Index: r.Index},
		follow: follow && r.State == task.Running.String()}
	if !q.follow {
		l.copy(ctx, id, host, q)
		return
	}
	l.tails.Go(func() { l.copy(ctx, id, host, q) })
}

// copy prints the output of a task that ran on a host.
func (l *sweepLogs) copy(ctx context.Context, id, host string, q outputQuery) {
	stdout := &prefixed{to: display.Visibly(l.stdout), prefix: id + " | "}
	stderr := &prefixed{to: display.Visibly(l.stderr), prefix: id + " | "}
	q.stdout, q.stderr = stdout, stderr
	err := logsOf(ctx, l.src, host, q)
	stdout.flush()
	stderr.flush()
	if err != nil && ctx.Err() == nil && !isSilent(err) {
		fmt.Fprintf(l.stderr, "note: %s: %s\n", id, cli.Visible(err.Error()))
		l.mu.Lock()
		defer l.mu.Unlock()
		l.failed = true
	}
}

// prefixed writes whole lines, each after a prefix.
type prefixed struct {
	to     io.Writer
	prefix string
	line   []byte
}

// maxLine bounds a line in memory; the rest of a longer one is another line.
const maxLine = 64 << 10

func (p *prefixed) Write(text []byte) (int, error) {
	for _, b := range text {
		if b != '\n' {
			p.line = append(p.line, b)
		}
		if b == '\n' || len(p.line) == maxLine {
			if err := p.write(); err != nil {
				return 0, err
			}
		}
	}
	return len(text), nil
}

// flush writes the last line, if it has no end.
func (p *prefixed) flush() {
	if len(p.line) > 0 {
		_ = p.write() // the next write fails, too
	}
}

func (p *prefixed) write() error {
	_, err := fmt.Fprintf(p.to, "%s%s\n", p.prefix, display.LastState(p.line))
	p.line = p.line[:0]
	return err
}
