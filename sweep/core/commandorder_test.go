package core_test

import (
	"errors"
	"slices"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// TestNoCommandSendsWhatItsStepEnds: a command is decided before the events of its step. None sends
// a worker an attempt that these end, or return.
func TestNoCommandSendsWhatItsStepEnds(t *testing.T) {
	t.Parallel()
	const id, worker = "train-1", "w"
	with := core.Revision{Revision: "r2"}
	failed := core.Task{Index: 2, State: task.Failed, Attempts: 1,
		Attempt: core.Attempt{Number: 1, Worker: worker}}
	for name, command := range map[string]core.Command{
		"none":             nil,
		"refuse":           core.Refuse{Err: errors.New("no")},
		"note":             core.Note{},
		"tell":             core.Tell{Worker: worker},
		"follow":           core.Follow{Sweep: id, More: 1},
		"start":            core.StartSweep{Sweep: id},
		"cancel":           core.CancelSweep{Sweep: id},
		"cancel a task":    core.CancelTask{Task: task.ID{Sweep: id}},
		"cancel tasks":     core.CancelTasks{Sweep: id, Indexes: []int64{0, 1, 2}},
		"pause":            core.PauseSweep{Sweep: id},
		"pause and stop":   core.PauseSweep{Sweep: id, Stop: true},
		"resume":           core.ResumeSweep{Sweep: id, With: with},
		"retry one":        core.RetryTasks{Sweep: id, Tasks: []core.Task{failed}, With: with},
		"retry all":        core.RetryTasks{Sweep: id, Tasks: []core.Task{failed}, All: true},
		"prioritize":       core.PrioritizeSweep{Sweep: id, Priority: 1},
		"extend":           core.ExtendSweep{Sweep: id, Space: spaces()[8], With: with},
		"reread":           core.RereadMetrics{Sweep: id, Metrics: []metric.Rule{{Name: "acc"}}},
		"drain":            core.DrainWorker{Worker: worker},
		"undrain":          core.DrainWorker{Worker: worker, Off: true},
		"resize":           core.ResizeWorker{Worker: worker, Slots: 5},
		"restart":          core.RestartWorker{Worker: worker},
		"restart and stop": core.RestartWorker{Worker: worker, Now: true},
		"forget":           core.ForgetWorker{Worker: worker},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			has := core.Attempt{Number: 1, Worker: worker, Started: at(0)}
			c, _ := core.Load(core.Options{}, []core.Loaded{{Seq: 1,
				Record: core.Record{Space: spaces()[2], Retry: task.Retry{Error: 1}},
				Head: core.Head{ID: id, State: core.Open, Total: 3, Issued: 3,
					Rows: core.Counts{task.Running: 2, task.Failed: 1}},
				Open: []core.Task{
					{Index: 0, State: task.Running, Attempts: 1, Attempt: has},
					{Index: 1, State: task.Claimed, Attempt: has},
				}}}, []core.WorkerRecord{{Name: worker, Incarnation: "1"}}, at(0))
			beat := beatOf("1")
			beat.Slots = 4
			effectsOf(c, core.Input{Heartbeats: []task.Heartbeat{beat}}, at(1))
			event := func(kind task.EventKind, index int64, o *task.Outcome) core.Event {
				return core.Event{Event: task.Event{Version: task.Version, Kind: kind,
					Worker: worker, Sweep: id, Index: index, Attempt: 1, Time: at(2), Outcome: o}}
			}
			effects := effectsOf(c, core.Input{Command: command, Events: []core.Event{
				event(task.EndedEvent, 0, &task.Outcome{Class: task.Error}),
				event(task.ReturnedEvent, 1, nil),
			}}, at(2))
			for _, m := range effects.Messages {
				for _, b := range m.Batches {
					if slices.ContainsFunc(b.Attempts, func(a task.Attempt) bool {
						return a.Index < 2 && a.Number == 1
					}) {
						t.Errorf("%s is sent %+v", m.Worker, b.Attempts)
					}
				}
			}
		})
	}
}
