package master

import (
	"context"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// What a watcher that is slow gets at most at once.
const (
	MostRows  = mostRows
	MostLines = mostLines
)

// Query lets the loop run f.
func (m *Master) Query(ctx context.Context, f func(context.Context) error) error {
	return m.query(ctx, f)
}

// Do lets the loop prepare a command by f, that changes nothing.
func (m *Master) Do(ctx context.Context, f func(context.Context) error) error {
	_, err := m.ask(ctx, call{prepare: func(ctx context.Context) (core.Command, error) { return core.Note{}, f(ctx) }})
	return err
}

// Shown is a watcher, and what tells it of lines and tasks.
func Shown(r core.Record, h core.Head, d api.Detail) (w *Watcher, line func(task.Line),
	changed func(core.Head, []core.Task), end func()) {
	ws := &watchers{}
	return ws.add(r, h, nil, d), ws.line, func(h core.Head, tasks []core.Task) { ws.changed(r, h, tasks) }, ws.close
}
