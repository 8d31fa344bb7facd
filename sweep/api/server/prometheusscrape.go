package server

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/queue"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

const metricsPath = "/metrics"

// Bounds of one scrape: sweeps whose tasks are counted, and the wait for the master and for the
// broker.
const (
	maxOpen     = 200
	maxEnded    = 10
	measureTime = 5 * time.Second
	depthTime   = 2 * time.Second
)

// processMetrics are those of any Go program: memory, descriptors, goroutines.
func processMetrics() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// metrics answers what Prometheus collects: what the master counted, and how it, its store and its
// broker stand now.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) (any, error) {
	ctx, cancel := context.WithTimeout(r.Context(), measureTime)
	defer cancel()
	m, err := s.scrape(ctx)
	if err != nil {
		return nil, err
	}
	now := prometheus.NewRegistry()
	now.MustRegister(m)
	all := prometheus.Gatherers{now, s.o.Master.Metrics(), s.process}
	promhttp.HandlerFor(all, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	return nil, nil
}

// scrape is the state that one scrape reports.
type scrape struct {
	program string
	sweeps  []store.Listed // those that have not ended and the newest that have, the oldest first
	master.Stats
	broker queue.Status
	depths []queue.Depth // nil: not known now
}

func (s *Server) scrape(ctx context.Context) (m *scrape, err error) {
	m = &scrape{program: s.o.Program, broker: s.o.Broker.Status()}
	if m.Stats, err = s.o.Master.Stats(ctx); err != nil {
		return nil, err
	}
	if m.sweeps, err = s.o.Store.Current(ctx, maxEnded); err != nil {
		return nil, err
	}
	if !m.broker.Unreachable {
		m.depths = s.waiting(ctx)
	}
	return m, nil
}

// waiting asks the broker for the depths of its queues, for depthTime at most.
func (s *Server) waiting(ctx context.Context) []queue.Depth {
	ctx, cancel := context.WithTimeout(ctx, depthTime)
	defer cancel()
	answer := make(chan []queue.Depth, 1)
	go func() {
		all, _ := s.o.Master.Depths(ctx) // why it fails the broker's state says
		answer <- all
	}()
	select {
	case all := <-answer:
		return all
	case <-ctx.Done():
		return nil
	}
}

// desc describes one metric. Names have their unit, and counters end with total.
func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("mlframework_"+name, help, labels, nil)
}

var (
	buildDesc  = desc("build_info", "The version of the master's program; always 1.", "version")
	sweepsDesc = desc("sweeps", "Sweeps that have not ended, by state.", "state")
	tasksDesc  = desc("tasks",
		"Tasks by sweep and state, of sweeps that have not ended and of the newest that have.",
		"sweep", "state")

	demandDesc = desc("demand_tasks", "Tasks that would begin now if there were slots for them: "+
		"what to start more workers by.")

	brokerDesc  = desc("broker_up", "Whether the master reaches its broker: 1 or 0.")
	blockedDesc = desc("broker_blocked", "Whether the broker takes no messages for now, as it "+
		"is short of memory or disk: 1 or 0.")
	refusedDesc = desc("refused_messages_total", "Messages for the master that could not be "+
		"read, were not from the worker that they named, or were of attempts that it never had.")
	outgoingDesc = desc("outgoing_messages",
		"Batches and messages for workers that the broker has not taken yet.")
	depthDesc = desc("queue_messages",
		"Messages that wait in a queue of the broker; absent while the broker cannot be asked.",
		"queue")
	consumersDesc = desc("queue_consumers", "Who reads a queue of the broker.", "queue")

	workersDesc = desc("workers", "Workers by state.", "state")
	slotsDesc   = desc("worker_slots", "How many tasks a worker runs at a time.", "worker")
	busyDesc    = desc("worker_slots_busy", "How many tasks a worker runs now.", "worker")
	waitingDesc = desc("worker_waiting_tasks", "Tasks that a worker has and has not begun.",
		"worker")
	unsentDesc = desc("worker_unsent_events", "Events that a worker could not send yet.", "worker")
	seenDesc   = desc("worker_last_heartbeat_timestamp_seconds",
		"When a worker was last heard of, by the master's clock.", "worker")
	cpuDesc = desc("worker_cpu_busy_ratio",
		"Part of the cores of a worker's host that is busy, from 0 to 1.", "worker")
	memoryDesc = desc("worker_memory_bytes",
		"Memory of a worker's host, or of its control group where that has less.", "worker")
	freeDesc = desc("worker_memory_free_bytes",
		"Memory that programs on a worker's host could still get.", "worker")
	diskDesc = desc("worker_disk_bytes", "Size of the file system of a worker's outputs.",
		"worker")
	spaceDesc = desc("worker_disk_free_bytes",
		"What is free of the file system of a worker's outputs.", "worker")

	gpuGivenDesc = desc("worker_gpu_given_ratio",
		"Part of a GPU that tasks have been given, from 0 to 1. The GPU is named by its UUID.",
		"worker", "gpu")
	gpuAvailableDesc = desc("worker_gpu_available",
		"Whether tasks get a GPU: 1, or 0 while somebody else uses it or it is out of order.",
		"worker", "gpu")
	gpuBrokenDesc = desc("worker_gpu_broken",
		"Whether a GPU does not work or does not answer: 1 or 0.", "worker", "gpu")
	gpuBusyDesc = desc("worker_gpu_busy_ratio",
		"Part of the last second in which a program ran on a GPU, from 0 to 1; absent where the "+
			"driver does not tell, and for instances.", "worker", "gpu")
	gpuMemoryDesc = desc("worker_gpu_memory_bytes",
		"Memory of a GPU; absent where the driver does not tell.", "worker", "gpu")
	gpuUsedDesc = desc("worker_gpu_memory_used_bytes",
		"Memory of a GPU that programs use, whoever runs them; absent where the driver "+
			"does not tell, and for instances.", "worker", "gpu")
)

// Describe implements prometheus.Collector; the metrics describe themselves.
func (m *scrape) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (m *scrape) Collect(to chan<- prometheus.Metric) {
	t := metricWriter{to}
	t.gauge(buildDesc, 1, m.program)
	m.collectSweeps(t)
	t.gauge(demandDesc, float64(m.Demand.Tasks))
	m.collectBroker(t)
	m.collectWorkers(t)
}

// metricWriter writes metrics.
type metricWriter struct{ to chan<- prometheus.Metric }

func (t metricWriter) gauge(d *prometheus.Desc, v float64, labels ...string) {
	t.to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func (t metricWriter) counter(d *prometheus.Desc, v float64, labels ...string) {
	t.to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
}

func (m *scrape) collectSweeps(t metricWriter) {
	states := map[core.State]int{core.Open: 0, core.Paused: 0, core.Cancelled: 0}
	open := 0
	for _, s := range slices.Backward(m.sweeps) {
		if s.Head.Ended.IsZero() {
			states[s.Head.State]++
			open++
		}
		if s.Damage != "" || s.Head.Ended.IsZero() && open > maxOpen {
			continue
		}
		for state, n := range s.Head.Counts() {
			t.gauge(tasksDesc, float64(n), s.Head.ID, task.State(state).String())
		}
	}
	for state, n := range states {
		t.gauge(sweepsDesc, float64(n), string(state))
	}
}

func (m *scrape) collectBroker(t metricWriter) {
	t.gauge(brokerDesc, oneIf(!m.broker.Unreachable))
	t.gauge(blockedDesc, oneIf(m.broker.Blocked != ""))
	t.counter(refusedDesc, float64(m.broker.Refused+m.Refused))
	t.gauge(outgoingDesc, float64(m.Outgoing))
	for _, d := range m.depths {
		t.gauge(depthDesc, float64(d.Messages), d.Queue)
		if d.Consumers != nil {
			t.gauge(consumersDesc, float64(*d.Consumers), d.Queue)
		}
	}
}

func (m *scrape) collectWorkers(t metricWriter) {
	states := map[string]int{}
	for _, state := range core.WorkerStates {
		states[state] = 0
	}
	for _, w := range m.Workers {
		states[w.State]++
		t.gauge(slotsDesc, float64(w.Slots), w.Name)
		t.gauge(busyDesc, float64(len(w.Running)), w.Name)
		t.gauge(waitingDesc, float64(w.Waiting), w.Name)
		t.gauge(unsentDesc, float64(w.Unsent), w.Name)
		if w.Seen != nil {
			t.gauge(seenDesc, float64(w.Seen.UnixMilli())/1000, w.Name)
		}
		if l := w.Load; l != nil {
			t.gauge(cpuDesc, l.CPU, w.Name)
			t.gauge(memoryDesc, float64(l.MemoryTotal), w.Name)
			t.gauge(freeDesc, float64(l.MemoryFree), w.Name)
			t.gauge(diskDesc, float64(l.DiskTotal), w.Name)
			t.gauge(spaceDesc, float64(l.DiskFree), w.Name)
		}
		if w.State != core.WorkerAway { // else its tasks have been given to others
			collectGPUs(t, w.Worker)
		}
	}
	for state, n := range states {
		t.gauge(workersDesc, float64(n), state)
	}
}

// collectGPUs writes a worker's GPUs, each once: Prometheus refuses all metrics where one is there
// twice.
func collectGPUs(t metricWriter, w core.Worker) {
	told := map[string]bool{}
	for _, g := range w.GPUs[:min(len(w.GPUs), task.MaxShownGPUs)] {
		if told[g.UUID] {
			continue
		}
		told[g.UUID] = true
		t.gauge(gpuGivenDesc, g.Given, w.Name, g.UUID)
		t.gauge(gpuAvailableDesc, oneIf(g.Unavailable == ""), w.Name, g.UUID)
		t.gauge(gpuBrokenDesc, oneIf(g.Broken), w.Name, g.UUID)
		if g.Memory > 0 {
			t.gauge(gpuMemoryDesc, float64(g.Memory), w.Name, g.UUID)
		}
		if g.Split { // how full and busy parts are drivers do not tell
			continue
		}
		if g.Utilization >= 0 {
			t.gauge(gpuBusyDesc, float64(g.Utilization)/100, w.Name, g.UUID)
		}
		if g.Used >= 0 {
			t.gauge(gpuUsedDesc, float64(g.Used), w.Name, g.UUID)
		}
	}
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
