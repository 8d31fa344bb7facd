package monitor

import "mlframework/sweep/core"

// Alarms returns what needs a person, each in a line.
func Alarms(sweeps []core.Summary, workers []core.Worker) (lines []string) {
	m := &Monitor{}
	for _, a := range append(m.workerAlarms(workers), m.sweepAlarms(sweeps, workers)...) {
		lines = append(lines, a.What+" "+a.State+": "+a.Text+" | "+a.Remedy.Text+" "+
			a.Remedy.Command)
	}
	return lines
}

// SameOnOverview reports whether the overview says the same of workers.
var SameOnOverview = sameOnOverview
