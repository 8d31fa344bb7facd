package server_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// scraped reads the metrics as Prometheus does.
func (s *site) scraped() map[string]*dto.MetricFamily {
	s.t.Helper()
	status, text, h := s.raw("GET", "/metrics", "")
	if status != http.StatusOK || !strings.HasPrefix(h.Get("Content-Type"), "text/plain") {
		s.t.Fatalf("%d %s: %s", status, h.Get("Content-Type"), text)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	all, err := parser.TextToMetricFamilies(strings.NewReader(text + "\n"))
	s.must(err)
	return all
}

// valued finds one metric by its labels, NAME=VALUE.
func valued(t *testing.T, all map[string]*dto.MetricFamily, name string,
	labels ...string) *dto.Metric {
	t.Helper()
	for _, m := range all[name].GetMetric() {
		have := map[string]bool{}
		for _, l := range m.GetLabel() {
			have[l.GetName()+"="+l.GetValue()] = true
		}
		found := len(have) == len(labels)
		for _, l := range labels {
			found = found && have[l]
		}
		if found {
			return m
		}
	}
	t.Errorf("there is no %s with %v", name, labels)
	return &dto.Metric{}
}

// value is the number of a gauge or counter.
func value(m *dto.Metric) float64 { return m.GetGauge().GetValue() + m.GetCounter().GetValue() }

func TestMetricsAgreeWithTheStore(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", 2, func(g given) *task.Outcome {
		switch {
		case g.sweep == "train-2":
			return nil
		case g.Index == 3:
			return badly(g)
		case g.Index == 1 && g.Number == 1:
			return &task.Outcome{Class: task.Loss, Reason: "its worker w1 was silent"}
		}
		o := well(g)
		o.Duration = time.Duration(g.Index) * time.Second
		return o
	})
	id := s.submit(6)
	s.becomes(id, map[string]int64{"succeeded": 5, "failed": 1})
	running := s.submit(2)
	s.becomes(running, map[string]int64{"running": 2})
	all := s.scraped()
	for _, id := range []string{id, running} {
		view, err := s.client.Sweep(t.Context(), id, false)
		s.must(err)
		for state, n := range view.Counts {
			if got := value(valued(t, all, "mlframework_tasks", "sweep="+id,
				"state="+state)); got != float64(
				n,
			) {
				t.Errorf("%s has %v tasks %s; the store has %d", id, got, state, n)
			}
		}
	}
	for _, c := range []struct {
		want   float64
		name   string
		labels []string
	}{
		{1, "mlframework_build_info", []string{"version=1.2"}},
		{1, "mlframework_sweeps", []string{"state=running"}},
		{0, "mlframework_sweeps", []string{"state=paused"}},
		{1, "mlframework_attempts_lost_total", nil},
		{1, "mlframework_broker_up", nil}, {0, "mlframework_broker_blocked", nil},
		{0, "mlframework_outgoing_messages", nil},
		{0, "mlframework_demand_tasks", nil},
		{0, "mlframework_refused_messages_total", nil},
		{0, "mlframework_queue_messages", []string{"queue=tasks.w1"}},
		{1, "mlframework_workers", []string{"state=ready"}},
		{0, "mlframework_workers", []string{"state=refused"}},
		{2, "mlframework_worker_slots", []string{"worker=w1"}}, {0, "mlframework_worker_slots_busy",
			[]string{"worker=w1"}},
	} {
		if got := value(valued(t, all, c.name, c.labels...)); got != c.want {
			t.Errorf("%s%v is %v; want %v", c.name, c.labels, got, c.want)
		}
	}
	for class, want := range map[string]struct {
		count uint64
		sum   float64
		below map[float64]uint64
	}{
		"success": {5, 0 + 1 + 2 + 4 + 5, map[float64]uint64{0.1: 1, 1: 2, 5: 5}},
		"error":   {1, 0.001, map[float64]uint64{0.1: 1}},
		"lost":    {1, 0, map[float64]uint64{0.1: 1}},
	} {
		h := valued(t, all, "mlframework_attempt_duration_seconds", "class="+class).GetHistogram()
		if h.GetSampleCount() != want.count || h.GetSampleSum() != want.sum {
			t.Errorf("%s: %d attempts took %v s; want %d and %v", class, h.GetSampleCount(),
				h.GetSampleSum(), want.count, want.sum)
		}
		for _, b := range h.GetBucket() {
			if n, ok := want.below[b.GetUpperBound()]; ok && b.GetCumulativeCount() != n {
				t.Errorf("%s: %d took at most %v s; want %d", class, b.GetCumulativeCount(),
					b.GetUpperBound(), n)
			}
		}
	}
	if n := value(valued(t, all, "mlframework_store_commits_total")); n < 3 {
		t.Errorf("%v commits", n)
	}
	if lag := value(valued(t, all, "mlframework_event_lag_seconds")); lag < 0 ||
		lag > limit.Seconds() {
		t.Errorf("a lag of %v s", lag)
	}
	for name, family := range all {
		if family.GetHelp() == "" {
			t.Errorf("%s says nothing of itself", name)
		}
	}
	if all["go_goroutines"] == nil {
		t.Error("nothing is said of the process")
	}
}

// Without its broker the master still tells what it knows.
func TestMetricsInAnOutage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.queue.Outage(true)
	all := s.scraped()
	if got := value(valued(t, all, "mlframework_broker_up")); got != 0 ||
		all["mlframework_queue_messages"] != nil {
		t.Errorf("the broker is up: %v, and its queues have %v", got,
			all["mlframework_queue_messages"])
	}
}

// However many sweeps have ended, few of them are told.
func TestMetricsHaveABoundedNumberOfSweeps(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for range 15 {
		_, err := s.client.Cancel(t.Context(), s.submit(1))
		s.must(err)
	}
	told := map[string]bool{}
	for _, m := range s.scraped()["mlframework_tasks"].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == "sweep" {
				told[l.GetValue()] = true
			}
		}
	}
	if len(told) != 10 || !told["train-15"] || told["train-5"] {
		t.Errorf("told of %v", told)
	}
}

// TestDamagedEndedSweep: a sweep that has ended and cannot be read, or one of its tasks, hinders
// neither metrics nor the question of what is missing, which names it.
func TestDamagedEndedSweep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, old, damaged string
		missing            int64 // the first point that is
	}{
		{"record", `"objective":{"max`, `"objective"!{"max`, 1},
		{"counts", `[0,0,0,0,3,0`, `[0,0,0,0,3!0`, 1},
		{"last task", `{"accuracy":2}`, `{"accuracy"!2}`, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.hire("w1", 4, well)
			broken := s.submit(3)
			s.becomes(broken, map[string]int64{"succeeded": 3})
			s.end()
			path := filepath.Join(s.folder, store.File)
			text, err := os.ReadFile(path)
			s.must(err)
			s.must(os.WriteFile(path, bytes.ReplaceAll(text, []byte(c.old), []byte(c.damaged)),
				0o600))
			s.start()
			other := s.submit(1)
			s.becomes(other, map[string]int64{"succeeded": 1})
			valued(t, s.scraped(), "mlframework_tasks", "sweep="+other, "state=succeeded")
			sub := submission(t, 4)
			m, err := s.client.Missing(t.Context(), sub.Record, sub.Code)
			in := other
			if c.missing == 2 { // both points are in the oldest sweep
				in = broken
			}
			want := api.Missing{Ranges: core.Ranges{{From: c.missing, To: 4}},
				Succeeded: []string{in}, Damaged: []string{broken}}
			if diff := cmp.Diff(want, m); diff != "" || err != nil {
				t.Errorf("%v; -want +got:\n%s", err, diff)
			}
		})
	}
}

// A worker that makes up GPUs, or tells one twice, hinders no scrape.
func TestMetricsOfGPUs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	made := task.Heartbeat{Worker: "w1", Slots: 1, Incarnation: "1", GPUs: []task.GPU{
		{UUID: "GPU-1", Name: "A100", Memory: 80 << 30, Used: 6 << 30, Utilization: 97, Given: 0.5},
		{UUID: "GPU-2\"\n", Memory: 80 << 30, Used: -1, Utilization: -1,
			Unavailable: "it does not answer", Broken: true},
		{UUID: "MIG-1", Memory: 10 << 30, Split: true, Used: -1, Utilization: -1},
		{UUID: "GPU-1", Given: 1},
	}}
	for i := range 1000 {
		made.GPUs = append(made.GPUs, task.GPU{UUID: "made up " + strconv.Itoa(i), Used: 1})
	}
	s.hireThat(made, well)
	s.hire("w2", 1, well)
	var all map[string]*dto.MetricFamily
	s.until("both are heard of", func() bool {
		all = s.scraped()
		return value(valued(t, all, "mlframework_workers", "state=ready")) == 2 &&
			all["mlframework_worker_gpu_available"] != nil
	})
	for _, c := range []struct {
		want      float64
		name, gpu string
	}{
		{0.5, "given_ratio", "GPU-1"}, {1, "available", "GPU-1"}, {0.97, "busy_ratio", "GPU-1"},
		{80 << 30, "memory_bytes", "GPU-1"}, {6 << 30, "memory_used_bytes", "GPU-1"},
		{0, "given_ratio", "GPU-2\"\n"}, {0, "available", "GPU-2\"\n"},
		{0, "broken", "GPU-1"}, {1, "broken", "GPU-2\"\n"},
	} {
		m := valued(t, all, "mlframework_worker_gpu_"+c.name, "worker=w1", "gpu="+c.gpu)
		if got := value(m); got != c.want {
			t.Errorf("%s of %q is %v; want %v", c.name, c.gpu, got, c.want)
		}
	}
	for name, want := range map[string]int{"available": 111, "memory_bytes": 3,
		"memory_used_bytes": 109, "busy_ratio": 109} {
		if n := len(all["mlframework_worker_gpu_"+name].GetMetric()); n != want {
			t.Errorf("%d GPUs have %s; want %d", n, name, want)
		}
	}
}
