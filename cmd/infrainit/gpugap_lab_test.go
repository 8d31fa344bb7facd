package main_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkGPUGap measures the time from the end of a task to the start of the next one on the same
// GPU: on a cluster, over RabbitMQ, and with --local on the machine of the test. -benchtime=1x is
// enough: each sweep is 20 tasks on two GPUs.
func BenchmarkGPUGap(b *testing.B) {
	p := newLaptop(b, 1)
	h := p.lab.Hosts[0]
	program(b, h, "nvidia-smi", gpuSMI)
	passGPUs(b, h)
	file := filepath.Join(p.home, "bin", "nvidia-smi")
	if err := os.WriteFile(file, []byte(gpuSMI), 0o700); err != nil {
		b.Fatal(err)
	}
	p.has("digits/tasks.yml", "tasks:\n  naps: {command: [sleep, 1], flags: env, env: {N: \"{n}\"}, "+
		"parameters: parameters.yml, gpus: 1}\n")
	p.has("digits/parameters.yml", "n: [0, 20)\n")
	p.up(append(p.images(), "-a", "anna@"+h.Name, "-d", "digits", "--name", "c", "-m", "1", "-w",
		"1")...)
	defer p.remove()
	for name, where := range map[string][]string{"cluster": nil,
		"local": {"--local", "-d", "digits"}} {
		b.Run(name, func(b *testing.B) {
			var gaps []time.Duration
			for b.Loop() {
				run := slices.Concat([]string{"run-tasks", "-q"}, where, []string{"naps"})
				gaps = append(gaps, gapsOf(p.rows(strings.TrimSpace(p.must(run...).out),
					where...))...)
			}
			slices.Sort(gaps)
			b.ReportMetric(float64(gaps[len(gaps)/2].Milliseconds()), "median-ms")
			b.ReportMetric(float64(gaps[len(gaps)-1].Milliseconds()), "longest-ms")
		})
	}
}

// gapsOf returns the times between two tasks on the same GPU.
func gapsOf(rows []row) (gaps []time.Duration) {
	slices.SortFunc(rows, func(a, b row) int { return a.Started.Compare(b.Started) })
	ended := map[string]time.Time{}
	for _, r := range rows {
		for _, g := range r.GPUs {
			if at, is := ended[g.UUID]; is {
				gaps = append(gaps, r.Started.Sub(at))
			}
			ended[g.UUID] = r.Started.Add(time.Duration(r.Duration * float64(time.Second)))
		}
	}
	return gaps
}
