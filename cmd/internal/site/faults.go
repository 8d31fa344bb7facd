package site

import (
	"fmt"
	"strings"

	"mlframework/infra/plan"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// Fault is what is not as it should be.
type Fault struct {
	Host   string `json:"host"` // name of a host or worker; "": it is about the cluster
	What   string `json:"what"`
	Remedy string `json:"remedy"` // may be empty
}

func (f Fault) String() string {
	text := f.What
	if f.Host != "" {
		text = f.Host + ": " + text
	}
	return text
}

// faults finds what is wrong in what everybody said.
func (o *Overview) faults() []Fault {
	f := faults{all: []Fault{}, stopped: map[string]bool{}}
	for _, h := range o.Hosts {
		f.host(h)
	}
	for _, c := range o.Certificates {
		if warning := c.Warning(o.Time); warning != "" {
			f.add("", "infrainit -f makes a new one", "%s", warning)
		}
	}
	if o.silent != nil {
		if !f.stopped[o.Master] && !f.stopped[o.Master+"/"+plan.Master] { // else that is why
			f.add("", "check-status --logs master shows what it says",
				"the master does not answer: %v", o.silent)
		}
		return f.all
	}
	for _, r := range o.ready {
		remedy := ""
		if r.What == "broker" {
			remedy = "check-status --logs broker shows what it says"
		}
		f.add("", remedy, "the master is not ready: %s", r)
	}
	for _, w := range o.warnings {
		f.add("", "", "%s", w)
	}
	f.workers(o)
	f.gpus(o)
	return append(f.all, o.drifts...)
}

type faults struct {
	all []Fault
	// hosts that cannot be asked, and HOST/ROLE of containers that do not run
	stopped map[string]bool
}

func (f *faults) add(host, remedy, format string, args ...any) {
	f.all = append(f.all, Fault{host, fmt.Sprintf(format, args...), remedy})
}

// workers compares what the master knows with the hosts that are to have one.
func (f *faults) workers(o *Overview) {
	wanted, leaves := map[string]bool{}, map[string]bool{}
	for _, h := range o.Hosts {
		leaves[h.Name] = h.Leaves
		if !h.Worker {
			continue
		}
		wanted[h.Name] = true
		w, known := o.worker(h.Name)
		switch {
		case !known:
			f.add(h.Name, "check-status --logs "+h.Name+" shows what it says",
				"the master has not heard of its worker")
		case w.State != core.WorkerReady:
			why := ""
			if w.Reason != nil {
				why = ": " + *w.Reason
			}
			f.add(h.Name, remedyOf(w, h.Root), "its worker is %s%s", w.State, why)
		case len(w.Lacks) > 0:
			f.add(h.Name, "infrainit -f brings them, as does a run-tasks that follows a sweep of them",
				"its worker gets no tasks of these revisions, as their files are not there: %s",
				human.Truncate(strings.Join(w.Lacks, ", ")))
		}
	}
	for _, w := range o.Workers {
		switch {
		case wanted[w.Name], leaves[w.Name]: // the fault of the host says what to do
		case w.State == core.WorkerAway:
			f.add(w.Name, "run-tasks workers forget "+w.Name,
				"no host has this worker any more, and the master waits for it")
		default:
			f.add(w.Name, "list its host (-a, -w) and run infrainit -f, or stop it there",
				"this worker is %s, and is on no host of the cluster", w.State)
		}
	}
}

// remedyOf is what to do with a worker that is not ready. Its outputs are below the folder root of
// its host.
func remedyOf(w core.Worker, root string) string {
	switch w.State {
	case core.WorkerAway, core.WorkerQuarantined:
		return "check-status --logs " + w.Name + " shows what it says"
	case core.WorkerDraining:
		return "run-tasks workers resume " + w.Name + " has it go on"
	case core.WorkerRefused:
		if w.Reason != nil && strings.HasPrefix(*w.Reason, task.NoSpaceReason) {
			return "free some space on the disk of " + root + " on " + w.Host +
				"; the worker then continues by itself"
		}
		return "infrainit -f brings all of them one program"
	}
	return ""
}
