package main_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/space"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// BenchmarkResults has a master print the results of 200,000 tasks, beside what sort takes for the
// same text. cpu-s is the time of processors that the command took, master-cpu-s what the master
// took meanwhile, MB the command's memory at its peak, and master-MB the master's so far, at the
// end after four callers at once.
func BenchmarkResults(b *testing.B) {
	dir := b.TempDir()
	fillStore(b, filepath.Join(dir, "master"), 200_000)
	s, err := startMaster(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.end)
	results := []string{program, "--master", filepath.Join(dir, "m.sock"), "results"}
	text := filepath.Join(dir, "table.txt")
	measure(b, s.cmd.Process.Pid, "table", text, results...)
	measure(b, s.cmd.Process.Pid, "sort of its text", os.DevNull, "sort", "-k", "3", text)
	measure(b, s.cmd.Process.Pid, "csv", os.DevNull, append(results, "--csv")...)
	measure(b, s.cmd.Process.Pid, "json", os.DevNull, append(results, "--json")...)
	measure(b, s.cmd.Process.Pid, "by a metric", os.DevNull, append(results, "--sort", "loss")...)
	b.Run("four at once", func(b *testing.B) {
		for b.Loop() {
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					if out, err := exec.Command(results[0], results[1:]...).Output(); err != nil ||
						len(out) < 1<<20 {
						b.Errorf("%d bytes, %v", len(out), err)
					}
				})
			}
			all.Wait()
		}
		b.ReportMetric(peakMemory(s.cmd.Process.Pid), "master-MB")
	})
}

// measure runs a command with its output in a file.
func measure(b *testing.B, master int, name, file string, command ...string) {
	b.Run(name, func(b *testing.B) {
		var used time.Duration
		before := processorTime(b, master)
		var most float64
		for b.Loop() {
			out, err := os.Create(file)
			if err != nil {
				b.Fatal(err)
			}
			var stderr bytes.Buffer
			cmd := exec.Command(command[0], command[1:]...)
			cmd.Stdout, cmd.Stderr, cmd.Env = out, &stderr, append(os.Environ(), "LC_ALL=C")
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			ended := make(chan struct{})
			var look sync.WaitGroup
			look.Go(func() { most = max(most, watchMemory(cmd.Process.Pid, ended)) })
			err = cmd.Wait()
			close(ended)
			if look.Wait(); err != nil {
				b.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, &stderr)
			}
			_ = out.Close()
			used += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}
		b.ReportMetric(used.Seconds()/float64(b.N), "cpu-s")
		b.ReportMetric((processorTime(b, master)-before).Seconds()/float64(b.N), "master-cpu-s")
		b.ReportMetric(most, "MB")
		b.ReportMetric(peakMemory(master), "master-MB")
	})
}

// watchMemory is the memory of a process at its peak, looked at until it has ended. What the system
// tells afterwards counts what its parent had when it began, too.
func watchMemory(pid int, ended <-chan struct{}) (most float64) {
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		most = max(most, peakMemory(pid))
		select {
		case <-tick.C:
		case <-ended:
			tick.Stop()
			return most
		}
	}
}

var peakLine = regexp.MustCompile(`VmHWM:\s*(\d+) kB`)

// peakMemory is what a process had at its peak so far, in MB; 0 when it has ended.
func peakMemory(pid int) float64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // none: it has ended
	found := peakLine.FindSubmatch(status)
	if found == nil {
		return 0
	}
	kb, _ := strconv.ParseFloat(string(found[1]), 64) // it is digits
	return kb / 1024
}

// processorTime is what a process took of processors so far.
func processorTime(b *testing.B, pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, after, _ := strings.Cut(string(stat), ") ") // the name may have spaces
	fields := strings.Fields(after)
	user, err1 := strconv.Atoi(fields[11]) // in hundredths of a second; man 5 proc counts from 3
	system, err2 := strconv.Atoi(fields[12])
	if err1 != nil || err2 != nil {
		b.Fatal(err1, err2)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

// fillStore makes a store with a sweep of n tasks that ended.
func fillStore(b *testing.B, dir string, n int64) {
	b.Helper()
	ctx := context.Background()
	s, err := store.Open(ctx, dir, "benchmark")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	points, _, err := space.Read("parameters.yml", fmt.Appendf(nil,
		"lr: [0.1, 0.01]\nseed: [0, %d, 1)\n", n/2))
	if err != nil {
		b.Fatal(err)
	}
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	sw, err := s.Add(ctx, store.NewSweep{Submitted: began, Total: n,
		Record: core.Record{Version: task.Version, Space: points,
			Objective: metric.Objective{Metric: "accuracy", Maximize: true},
			Recipe: task.Recipe{Definition: "train", Command: []string{"train.py"},
				Revision: "0123456789abcdef",
				Metrics: []metric.Rule{{Name: "accuracy", Pattern: "(a)"},
					{Name: "loss", Pattern: "(l)"}}}}})
	if err != nil {
		b.Fatal(err)
	}
	head, code := sw.Head, 0
	head.Issued, head.State, head.Ended = n, core.Finished, began.Add(time.Hour)
	for from := int64(0); from < n; from += 5000 {
		var tasks []core.Task
		for i := from; i < min(from+5000, n); i++ {
			tasks = append(tasks, core.Task{Index: i, State: task.Succeeded, Attempts: 1,
				Attempt: core.Attempt{Number: 1, Revision: "0123456789abcdef",
					Worker: "w1", Start: task.Start{Host: "gpu1"},
					Started: began.Add(time.Duration(i) * time.Millisecond),
					Outcome: &task.Outcome{Class: task.Success, ExitCode: &code,
						Duration: time.Duration(i%977) * time.Millisecond,
						Metrics: metric.Final{{Name: "loss", Value: 1 / float64(i+1)},
							{Name: "accuracy", Value: float64(i%1013) / 1013}}}}})
		}
		head.Rows[task.Succeeded] += int64(len(tasks))
		rows := core.SweepRows{Seq: sw.Seq, Record: &sw.Record,
			Changes: core.Changes{Head: head, Tasks: tasks}}
		if err := s.Commit(ctx, &core.Rows{Sweeps: []core.SweepRows{rows}}); err != nil {
			b.Fatal(err)
		}
	}
}
