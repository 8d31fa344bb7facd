package core_test

import (
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// addLost adds a sweep, lost-SEQ, of which each task was lost twice: it must have a worker to
// itself.
func addLost(t *testing.T, c *core.Core, head core.Head, record core.Record) {
	record.Space = spaceOf(t, "i: !interval [0, 9]")
	var open []core.Task
	for i := range head.Total {
		lost := core.Task{Index: i, State: task.Pending, NotBefore: at(0), Attempt: core.Attempt{
			Number: 2, Outcome: &task.Outcome{Class: task.Loss}}}
		lost.Charged.Lost = 2
		open = append(open, lost)
	}
	head.State, head.Issued, head.Rows[task.Pending] = core.Open, head.Total, head.Total
	c.Add(core.Loaded{Seq: 50 + int64(len(head.ID)), Head: head, Record: record, Open: open})
}

// A worker is reserved for an exclusive task only if it could start the task: one that has the
// GPUs, and none while somebody else uses these. Whoever waits for what nobody has keeps up nobody.
func TestWorkersReservedForExclusiveTasks(t *testing.T) {
	t.Parallel()
	gpu := core.Record{Recipe: task.Recipe{Needs: task.Needs{GPUs: task.GPUs{Count: 1}}}}
	never := core.Record{Recipe: task.Recipe{Needs: task.Needs{GPUs: task.GPUs{Count: 9}}}, Priority: 1}
	t4 := gpusOf(1, "T4", 16*gib)
	for name, c := range map[string]struct {
		gpus  [][]task.GPU // of the workers w0, w1, ...
		lost  map[string]core.Record
		began map[string]int // after half an hour
		least int            // tasks of others by then, on each worker
	}{
		"where the GPUs are": {gpus: [][]task.GPU{nil, t4}, lost: map[string]core.Record{
			"lost": gpu}, began: map[string]int{"lost": 1}, least: 500},
		"while a colleague has the only GPU": {
			gpus: [][]task.GPU{gone(gpusOf(1, "T4", 16*gib), 0)},
			lost: map[string]core.Record{"lost": gpu}, least: 500},
		"before what nobody can start": {gpus: [][]task.GPU{nil, t4},
			lost:  map[string]core.Record{"lost": gpu, "lost-never": never},
			began: map[string]int{"lost": 1}, least: 500},
		"for the worker that a task is for": {gpus: [][]task.GPU{nil, nil},
			lost: map[string]core.Record{"lost": {EachWorker: true,
				Workers: []string{"w1"}}}, began: map[string]int{"lost": 1}, least: 500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := newGPUSite(t, []gpuSweep{{tasks: 1000}, {tasks: 1000}, {tasks: 1000}})
			for id, r := range c.lost {
				addLost(t, site, core.Head{ID: id, Total: 1}, r)
			}
			lasts := map[string]float64{"lost": 5, "lost-never": 5, "train-0": 6, "train-1": 7,
				"train-2": 8}
			var hosts []*gpuHost
			for i, gpus := range c.gpus {
				h := newGPUHost(site, 4, gpus, lasts)
				h.beat.Worker = []string{"w0", "w1"}[i]
				hosts = append(hosts, h)
			}
			for second := range 1800 {
				pass(site, float64(second+1), hosts...)
			}
			began := map[string]int{}
			for _, h := range hosts {
				others := 0
				for id, n := range h.began {
					if id != "lost" {
						others += n
					}
				}
				began["lost"] += h.began["lost"]
				if others < c.least {
					t.Errorf("%s began %v", h.beat.Worker, h.began)
				}
			}
			if began["lost"] != c.began["lost"] {
				t.Errorf("%d exclusive tasks began", began["lost"])
			}
		})
	}
}
