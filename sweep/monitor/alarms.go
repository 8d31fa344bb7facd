package monitor

import (
	"slices"
	"strings"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// alarm is something that needs a person.
type alarm struct {
	What, URL string // URL "": it has no page
	State     string
	Text      string // why
	Remedy    remedy
}

// remedy is what repairs something: a sentence, the command that it is about, or both.
type remedy struct {
	Text, Command string
	Button        *button // of operators, that does the same
}

// readyAlarms are why submitted sweeps do not run.
func readyAlarms(r api.Readiness) (all []alarm) {
	for _, reason := range r.Reasons {
		a := alarm{What: "master", State: "not ready", Text: human.Visible(reason.String())}
		if reason.What == "broker" {
			a.Remedy = logsRemedy("broker")
		}
		all = append(all, a)
	}
	return all
}

// workerAlarms are the workers that take no tasks though nobody asked for that, and the GPUs that
// do not work.
func (m *Monitor) workerAlarms(all []core.Worker) (alarms []alarm) {
	for _, w := range all {
		a := alarm{What: human.Visible(w.Name), URL: m.workerURL(w.Name), State: w.State}
		if fix := workerRemedy(w); fix != (remedy{}) {
			if w.Reason != nil {
				a.Text = human.Truncate(human.Visible(*w.Reason))
			}
			a.Remedy = fix
			alarms = append(alarms, a)
		}
		for _, why := range gpuFaults(w) {
			alarms = append(alarms, alarm{What: a.What, URL: a.URL, State: "GPU fault",
				Text: why, Remedy: gpuRemedy(w)})
		}
	}
	return alarms
}

// workerRemedy is what to do with a worker that takes no tasks; the zero value: nothing, or a
// person wanted it so.
func workerRemedy(w core.Worker) remedy {
	switch w.State {
	case core.WorkerAway, core.WorkerQuarantined:
		return logsRemedy(w.Name)
	case core.WorkerRefused:
		if w.Reason != nil && strings.HasPrefix(*w.Reason, task.NoSpaceReason) {
			return remedy{Text: "Free some space on its disk; it then continues by itself."}
		}
		return remedy{Text: "To bring all workers one program:", Command: "infrainit -f"}
	}
	return remedy{}
}

// logsRemedy shows the log of a worker, or of master or broker.
func logsRemedy(of string) remedy {
	return remedy{Text: "The log says more:",
		Command: human.CommandLine([]string{"check-status", "--logs", of})}
}

// gpuFaults are why a worker cannot list its GPUs, and those that do not work. What it makes up
// beyond one is not listed.
func gpuFaults(w core.Worker) (all []string) {
	if w.State == core.WorkerAway {
		return nil
	}
	if w.GPUFault != nil {
		all = append(all, human.Truncate(human.Visible(*w.GPUFault)))
	}
	var broken []string
	for _, g := range w.GPUs[:min(len(w.GPUs), task.MaxShownGPUs)] {
		if g.Broken {
			broken = append(broken, human.GPU(g.UUID)+": "+human.Visible(g.Unavailable))
		}
	}
	if len(broken) > 0 {
		all = append(all, human.Truncate(human.ListFirst(broken)))
	}
	return all
}

func gpuRemedy(w core.Worker) remedy {
	return remedy{Text: "If nvidia-smi works on the host, this starts the worker anew, with its GPUs:",
		Command: human.CommandLine([]string{"run-tasks", "workers", "restart", w.Name})}
}

// sweepAlarms are the sweeps that do not go on by themselves.
func (m *Monitor) sweepAlarms(all []core.Summary, workers []core.Worker, role Role) (
	alarms []alarm) {
	ready := slices.ContainsFunc(workers, func(w core.Worker) bool {
		return w.State == core.WorkerReady
	})
	for _, s := range slices.Backward(all) {
		if s.Ended != nil || len(alarms) == overviewSweeps {
			continue
		}
		a := alarm{What: human.Visible(s.ID), URL: m.sweepURL(s.ID), State: string(s.State)}
		switch {
		case s.State == core.Paused:
			a.Remedy = resumeRemedy(s)
			if role >= Operator {
				a.Remedy.Button = &button{"Resume", a.URL + "/resume"}
			}
			if s.Reason != nil {
				a.Text = *s.Reason
			}
		case s.Silent != nil:
			a.Text = *s.Silent
		case !ready && s.Waits != nil:
			a.State, a.Text = waiting, *s.Waits
		default:
			continue
		}
		a.Text = human.Truncate(human.Visible(a.Text))
		alarms = append(alarms, a)
	}
	return alarms
}

func resumeRemedy(s core.Summary) remedy {
	argv := []string{"run-tasks", "resume", s.ID}
	if s.Reason != nil && strings.HasPrefix(*s.Reason, core.FailedAlike) {
		argv = append(argv, "--keep-going")
	}
	return remedy{Text: "To continue it:", Command: human.CommandLine(argv)}
}
