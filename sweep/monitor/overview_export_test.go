package monitor

import (
	"fmt"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
)

// RetryLabel is the button that runs tasks of a sweep again.
func RetryLabel(counts map[string]int64) string { return retryLabel(core.Summary{Counts: counts}) }

// Alarms returns what needs a person, each in a line.
func Alarms(sweeps []core.Summary, workers []core.Worker) (lines []string) {
	m := &Monitor{}
	for _, a := range append(m.workerAlarms(workers), m.sweepAlarms(sweeps, workers, Viewer)...) {
		lines = append(lines, a.What+" "+a.State+": "+a.Text+" | "+a.Remedy.Text+" "+
			a.Remedy.Command)
	}
	return lines
}

// SameOnOverview reports whether the overview says the same of workers.
var SameOnOverview = sameOnOverview

// Queues returns what the page of the broker says of looks at its queues, from a time on.
func Queues(after []time.Duration, at time.Time, looks ...[]api.QueueDepth) (lines []string) {
	m := &Monitor{}
	program := "RabbitMQ"
	var v brokerView
	for i, look := range looks {
		now := at.Add(after[i])
		m.depths.observe(now, look)
		v = m.broker(api.Broker{Program: &program, Queues: look}, now)
	}
	lines = append(lines, v.Connected)
	for _, q := range v.Queues {
		lines = append(lines, fmt.Sprintf("%s: %d %s, readers %s, delivered %s", q.Name, q.Messages,
			q.Change, q.Readers, q.Unacked))
	}
	for _, a := range v.Alarms {
		lines = append(lines, "alarm: "+a.What+" "+a.State+": "+a.Text+": "+a.Remedy.Command)
	}
	return lines
}
