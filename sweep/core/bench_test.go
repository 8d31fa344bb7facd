package core_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mlframework/sweep/core"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// BenchmarkCore has 1,000 workers of 8 slots run 1,000,000 tasks of 10 sweeps, with heartbeats
// every 2 s, ends of every class, retries, workers that die and return, and commands. An op is all
// of it. What is measured is the core alone, in CPU time of its thread, so that other programs do
// not count (but not with -cpuprofile, which makes that clock coarse). Garbage is collected beside
// the steps, as in a master; the time of that counts in inputs/s. In
// "deliveries" each delivery of a worker's events, each heartbeat and each command is a step, as in
// the master's loop while deliveries are small; in "batches" a step has what came in 20 ms, as the
// loop gathers it after a step with many events. In "gpus" the workers have eight GPUs each, and
// 100,000 tasks of eight sweeps need different things.
func BenchmarkCore(b *testing.B) {
	b.Run("deliveries", func(b *testing.B) {
		benchmarkCore(b, 1000, 10, 1_000_000, (*fleet).deliveries)
	})
	b.Run("batches",
		func(b *testing.B) { benchmarkCore(b, 1000, 10, 1_000_000, (*fleet).gathered) })
	b.Run("gpus", func(b *testing.B) {
		benchmarkCore(b, 1000, len(fleetNeeds), 100_000, (*fleet).deliveries, fleetNeeds...)
	})
}

// fleetNeeds are what tasks of sweeps need on hosts with eight GPUs.
var fleetNeeds = []task.Needs{{GPUs: task.GPUs{Count: 1}}, {GPUs: task.GPUs{Count: 0.5}},
	{GPUs: task.GPUs{Count: 2, Memory: 40 * gib}}, {GPUs: task.GPUs{Count: 4}},
	{GPUs: task.GPUs{Count: 1, Share: true, Memory: 12 * gib}}, {}, {CPUs: 4},
	{GPUs: task.GPUs{Count: 1, Name: "A100"}, CPUs: 2, Memory: 16 * gib}}

// garbage is the GOGC of a master; see cmd/internal/cli.
const garbage = 400

// BenchmarkCoreGrowth shows how the cost of an input grows with the number of workers and of
// sweeps.
func BenchmarkCoreGrowth(b *testing.B) {
	for _, workers := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			benchmarkCore(b, workers, 10, 100_000, (*fleet).deliveries)
		})
	}
	for _, sweeps := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("sweeps=%d", sweeps), func(b *testing.B) {
			benchmarkCore(b, 100, sweeps, 100_000, (*fleet).deliveries)
		})
	}
}

// BenchmarkHeartbeat shows how the cost of a heartbeat grows with the attempts that a worker runs.
func BenchmarkHeartbeat(b *testing.B) {
	for _, running := range []int{8, 256, 4096} {
		b.Run(fmt.Sprintf("running=%d", running), func(b *testing.B) {
			head := core.Head{ID: "train-1", State: core.Open, Total: int64(running),
				Issued: int64(running), Rows: core.Counts{task.Running: int64(running)}}
			open := make([]core.Task, running)
			beat := beatOf("1")
			beat.Slots = running
			for i := range open {
				open[i] = core.Task{Index: int64(i), State: task.Running, Attempts: 1,
					Attempt: core.Attempt{Number: 1, Worker: "w"}}
				beat.Running = append(beat.Running,
					task.Busy{Sweep: head.ID, Index: int64(i), Attempt: 1})
			}
			record := core.Record{Space: new(space.Space)}
			sweeps := []core.Loaded{{Record: record, Head: head, Open: open}}
			c, _ := core.Load(core.Options{}, sweeps, nil, at(0))
			beats := []task.Heartbeat{beat}
			for n := 0; b.Loop(); n++ {
				c.Step(core.Input{Heartbeats: beats}, at(float64(n)))
			}
		})
	}
}

func benchmarkCore(b *testing.B, workers, sweeps int, tasks int64, steps func(*fleet),
	needs ...task.Needs) {
	b.ReportAllocs()
	defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	var all meter
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	collecting := collectorTime()
	runtime.LockOSThread() // a step's own thread
	defer runtime.UnlockOSThread()
	for range b.N {
		f := newFleet(b, workers, sweeps, tasks, needs...)
		f.meter = &all
		for end := f.now.Add(24 * time.Hour); f.ended < sweeps; {
			if f.now.After(end) {
				b.Fatalf("%d of %d sweeps ended in a day", f.ended, sweeps)
			}
			f.advance()
			steps(f)
		}
	}
	runtime.ReadMemStats(&after)
	all.spent += collectorTime() - collecting
	all.report(b, &before, &after)
}

// gathered gives the core all that a moment brought in one step.
func (f *fleet) gathered() {
	f.step(core.Input{Heartbeats: f.beats, Events: f.events, Command: f.command()})
}

// deliveries gives the core all that a moment brought, each heartbeat in a step, and what a worker
// tells at once.
func (f *fleet) deliveries() {
	n := len(f.beats) + len(f.events)
	begin := f.now.Add(-moment)
	for i := range f.beats {
		f.now = begin.Add(moment * time.Duration(i) / time.Duration(n))
		f.step(core.Input{Heartbeats: f.beats[i : i+1]})
	}
	for from, to := 0, 0; from < len(f.events); from = to {
		for to < len(f.events) && f.events[to].Worker == f.events[from].Worker {
			to++
		}
		f.now = begin.Add(moment * time.Duration(len(f.beats)+from) / time.Duration(n))
		f.step(core.Input{Events: f.events[from:to]})
	}
	f.now = begin.Add(moment)
	if c := f.command(); c != nil || n == 0 {
		f.step(core.Input{Command: c})
	}
}

// step gives the core one input and its effects to the workers. The store of the fleet knows that
// every event is of its worker's attempt.
func (f *fleet) step(in core.Input) {
	begin := threadTime()
	for i := range in.Events {
		f.core.IsCurrent(&in.Events[i].Event)
	}
	out := f.core.Step(in, f.now)
	effects, _ := out.Commit(func(*core.Rows) error { return nil })
	f.core.Next()
	f.meter.step(&in, threadTime()-begin)
	for i := range effects.Changed {
		if !effects.Changed[i].Head.Ended.IsZero() {
			f.ended++
		}
	}
	f.deliver(effects.Messages)
}

// meter measures the steps of a core.
type meter struct {
	inputs int
	steps  int
	spent  time.Duration
	took   [100_000]int32 // steps, by microseconds; the last: that and more
	heap   uint64         // bytes of objects, at most
}

func (m *meter) step(in *core.Input, took time.Duration) {
	m.inputs += len(in.Heartbeats) + len(in.Events)
	if in.Command != nil {
		m.inputs++
	}
	m.spent += took
	m.took[min(int(took.Microseconds()), len(m.took)-1)]++
	if m.steps++; m.steps%1000 == 0 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		m.heap = max(m.heap, sample[0].Value.Uint64())
	}
}

// percentile is the microseconds in which so many steps of 1,000 are done.
func (m *meter) percentile(permille float64) float64 {
	left := int(float64(m.steps) * permille / 1000)
	for us, n := range m.took {
		if left -= int(n); left < 0 {
			return float64(us + 1)
		}
	}
	return float64(len(m.took))
}

func (m *meter) report(b *testing.B, before, after *runtime.MemStats) {
	inputs := float64(m.inputs)
	b.ReportMetric(inputs/m.spent.Seconds(), "inputs/s")
	b.ReportMetric(float64(m.spent.Nanoseconds())/inputs, "ns/input")
	b.ReportMetric(inputs/float64(m.steps), "inputs/step")
	b.ReportMetric(m.percentile(500), "p50-µs")
	b.ReportMetric(m.percentile(999), "p99.9-µs")
	b.ReportMetric(float64(m.heap)/1e6, "heap-MB")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/inputs, "B/input")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/inputs, "allocs/input")
	b.ReportMetric(0, "ns/op") // the fleet's time, too
}

// threadTime is how much of a CPU the thread has used.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}

// collectorTime is how much of a CPU garbage collection has used beside the program's own threads.
func collectorTime() time.Duration {
	sample := []metrics.Sample{{Name: "/cpu/classes/gc/mark/dedicated:cpu-seconds"},
		{Name: "/cpu/classes/gc/mark/idle:cpu-seconds"},
		{Name: "/cpu/classes/gc/pause:cpu-seconds"}}
	metrics.Read(sample)
	var seconds float64
	for _, s := range sample {
		seconds += s.Value.Float64()
	}
	return time.Duration(seconds * float64(time.Second))
}
