package master

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// metrics are what the loop counts since the master started.
type metrics struct {
	registry *prometheus.Registry

	attempts  *prometheus.HistogramVec // that ended and counted, by class
	lost      prometheus.Counter
	events    prometheus.Counter
	lag       prometheus.Gauge
	refused   int64 // events of attempts that their worker never had; the loop's
	commits   prometheus.Counter
	committed prometheus.Counter // seconds
}

// durationBuckets are upper bounds, in seconds: attempts take milliseconds or days.
var durationBuckets = []float64{0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 1800, 3600, 4 * 3600,
	12 * 3600, 24 * 3600, 7 * 24 * 3600}

func newMetrics() *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{
			Name: "mlframework_" + name, Help: help})
	}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		attempts: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "mlframework_attempt_duration_seconds",
			Help: "How long attempts ran that ended and counted, by how they ended; one that was " +
				"lost counts as 0.",
			Buckets: durationBuckets,
		}, []string{"class"}),
		lost: counter("attempts_lost_total",
			"Attempts whose worker went away, or whose host could not run them."),
		events: counter("events_total", "Events of workers that the master processed."),
		lag: prometheus.NewGauge(prometheus.GaugeOpts{Name: "mlframework_event_lag_seconds",
			Help: "How old the oldest of the newest group of events was when the master " +
				"processed it."}),
		commits: counter("store_commits_total",
			"Groups of changes that were written to the store."),
		committed: counter("store_commit_seconds_total", "Time that writing them took."),
	}
	m.registry.MustRegister(m.attempts, m.lost, m.events, m.lag, m.commits, m.committed)
	return m
}

// step counts what a step took in.
func (m *metrics) step(out *core.Output, events bool) {
	if events {
		m.lag.Set(out.Lag.Seconds())
	}
	m.events.Add(float64(out.Events))
	m.refused += int64(out.Refused)
}

// commit counts a commit, and the attempts that it ends.
func (m *metrics) commit(rows *core.Rows, took time.Duration) {
	m.commits.Inc()
	m.committed.Add(took.Seconds())
	for i := range rows.Sweeps {
		m.ended(&rows.Sweeps[i].Changes)
	}
}

// ended counts the attempts that a group of changes ends.
func (m *metrics) ended(c *core.Changes) {
	for i := range c.Tasks {
		if c.Tasks[i].State.Terminal() {
			m.end(c.Tasks[i].Attempt.Outcome)
		}
	}
	for i := range c.OldAttempts {
		if !c.OldAttempts[i].Attempt.Superseded {
			m.end(c.OldAttempts[i].Attempt.Outcome)
		}
	}
}

func (m *metrics) end(o *task.Outcome) {
	if o == nil || !o.Class.Valid() {
		return
	}
	m.attempts.WithLabelValues(string(o.Class)).Observe(o.Duration.Seconds())
	if o.Class == task.Loss {
		m.lost.Inc()
	}
}

// Metrics has what the master counted since it started.
func (m *Master) Metrics() prometheus.Gatherer { return m.metrics.registry }
