package master

import (
	"context"
	"strconv"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// What a watcher that is slow gets at most at once, and the bounds of placement.
const (
	MostRows  = mostRows
	MostLines = mostLines
	MostAhead = mostAhead
	MostTold  = mostTold
)

// Window, Chunk and Room are pure parts of the placement.
func Window(slots int, mean time.Duration, others bool) int { return window(slots, mean, others) }
func Chunk(slots int, mean time.Duration) int               { return chunk(slots, mean) }
func Room(window int, taken float64) int                    { return room(window, taken) }

// Do lets the loop run f.
func (m *Master) Do(ctx context.Context, f func(context.Context) error) error { return m.do(ctx, f) }

// Shown is a watcher, and what tells it of lines and tasks.
func Shown(r core.Record, h core.Head, d Detail) (w *Watcher, line func(task.Line), changed func(core.Head, []core.Task), end func()) {
	ws := &watchers{}
	return ws.add(r, h, nil, d), ws.line, func(h core.Head, tasks []core.Task) { ws.changed(r, h, tasks) }, ws.close
}

// MostWorkers is how many workers are known at most.
const MostWorkers = mostWorkers

// Noted is how many tasks are remembered when workers tell of so many tasks of each of so many
// sweeps that are not known.
func Noted(sweeps, tasks int) (remembered int) {
	var m Master
	for s := range sweeps {
		for n := range tasks {
			m.missing.note(strconv.Itoa(s), "w1", int64(n), false, time.Time{})
		}
	}
	for _, missing := range m.Missing() {
		remembered += missing.Tasks
	}
	return remembered
}

// MostMissing is how many tasks are remembered that workers tell of and the store does not know.
const MostMissing = mostMissing
