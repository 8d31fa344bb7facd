package worker_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/sweep/metric"
	"mlframework/sweep/queue/memory"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

// BenchmarkAttempt is the worker's whole way of a task that does nothing: claimed, its directory,
// program and files, ended. Batches are of 64, as a master sends them.
func BenchmarkAttempt(b *testing.B) { benchmarkAttempt(b, b.TempDir(), "") }

// BenchmarkAttemptBesideASpool is the same with a spool, which stays empty as long as the queue
// takes events.
func BenchmarkAttemptBesideASpool(b *testing.B) {
	benchmarkAttempt(b, b.TempDir(), filepath.Join(b.TempDir(), "events"))
}

func benchmarkAttempt(b *testing.B, base, spool string) {
	for _, name := range []string{"tasks.yml", "parameters.yml"} {
		if err := touch(filepath.Join(base, name)); err != nil {
			b.Fatal(err)
		}
	}
	q := memory.New()
	w := worker.New(q.Worker("w1"), worker.Options{Name: "w1", Slots: 2,
		Outputs: filepath.Join(base, "outputs"), Keeper: keeper, Spool: spool,
		Revision: func(string) (string, error) { return base, nil }, Inherited: os.Environ()})
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.Run(ctx) }()
	defer func() { cancel(); <-done }()
	b.ReportAllocs()
	b.ResetTimer()
	for from := 0; from < b.N; from += 64 {
		send := batch("")
		send.Recipe.Command = []string{"true"}
		for i := from; i < min(from+64, b.N); i++ {
			send.Attempts = append(send.Attempts, task.Attempt{Index: int64(i), Number: 1})
		}
		if err := q.Publish(ctx, "w1", send); err != nil {
			b.Fatal(err)
		}
	}
	events, ended := q.Events(ctx), 0
	for ended < b.N {
		d := <-events
		for _, e := range d.Items {
			if e.Kind == task.EndedEvent {
				ended++
			}
		}
		if err := d.Ack(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
}

// BenchmarkStream is what a worker does with what a program prints: 32 KiB at once, as they are
// read from a pipe.
func BenchmarkStream(b *testing.B) {
	line := "epoch 3 step 400 loss 0.123456, 81.3 samples a second\n"
	block := []byte(strings.Repeat(line, 32<<10/len(line)))
	for name, metrics := range map[string][]metric.Rule{"no metrics": nil,
		"a metric": {{Name: "loss", Pattern: `loss ([0-9.]+)`}}} {
		b.Run(name, func(b *testing.B) {
			rules, err := metric.Compile(metrics)
			if err != nil {
				b.Fatal(err)
			}
			s := worker.Stream("/dev/null", rules)
			b.SetBytes(int64(len(block)))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = s.Write(block)
			}
		})
	}
}
