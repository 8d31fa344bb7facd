package plan

import (
	"fmt"
	"slices"
	"strings"

	"mlframework/nvdocker"
)

// gpus finds that a worker cannot get the GPUs that it is to have, and warns of those that cannot
// work. A host with GPUs never runs as one without, unless it is told to.
func (p *problems) gpus(c Cluster, h Host, f Found) {
	if f.Engine.Version == "" { // nothing is known where Docker was not asked
		return
	}
	if h.Work.GPUs.None {
		p.visibleVariable(h)
		return
	}
	without := fmt.Sprintf("or set gpus: none for %s under overrides in cluster.yml (--cpu: "+
		"for all hosts)", h.Name)
	if fault := f.GPUs.Fault; fault != nil {
		p.fault(remedies(fault.Remedy, without), "its GPUs cannot be used: %s", fault.Cause)
		return
	}
	p.sickGPUs(f)
	g := gpusOf(h, f)
	if g.problem != nil {
		p.fault(remedies(g.problem.Remedy, "choose other GPUs with gpus: (--gpus)", without), "%s",
			g.problem.Cause)
		return
	}
	if _, problem := f.requestGPUs(g.devices); problem != nil {
		p.fault(remedies(problem.Remedy, without), "Docker cannot pass %s to containers: %s",
			countedGPUs(g.devices), problem.Cause)
		return
	}
	if len(g.assumed) > 0 {
		p.warn("check it with nvidia-smi -L when all GPUs respond",
			"gpus: %s: no GPU that responds has the UUID %s; it is taken for that of one that is "+
				"lost", h.Work.GPUs, strings.Join(g.assumed, ", "))
	}
	if slots, n := h.Work.Slots, len(g.devices); slots > 0 && slots < n {
		p.warn(fmt.Sprintf("set slots: %d (--slots) to run a task on each", n),
			"the worker has more GPUs (%d) than slots (%d), and each task takes a slot", n, slots)
	}
	p.visibleVariable(h)
	p.sharedGPUs(c, f, g.devices)
}

// visibleVariable warns of a variable that withGPUs overrides.
func (p *problems) visibleVariable(h Host) {
	for _, v := range h.Work.Environment {
		if v.Name == visibleVariable {
			p.warn("gpus: (--gpus) decides which GPUs the worker gets",
				"%s in environment has no effect", visibleVariable)
		}
	}
}

// remedies are ways out, in one line.
func remedies(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(r string) bool { return r == "" }), "; ")
}

// sickGPUs warns of GPUs that cannot work.
func (p *problems) sickGPUs(f Found) {
	for _, g := range f.GPUs.GPUs {
		for _, sick := range nvdocker.Health(g, nil) {
			what := sick.Cause
			if g.Lost != "" {
				what += "; a worker that is started or replaced now does without it"
				sick.Remedy = remedies(sick.Remedy, "then infrainit -f")
			}
			p.warn(sick.Remedy, "%s", what)
		}
		if g.MIG && len(g.Instances) == 0 && g.Lost == "" {
			p.warn("create some (sudo nvidia-smi mig -cgi PROFILE -C), or turn MIG off",
				"GPU %s is split (MIG) and has no instances: no task can use it", g.Number())
		}
	}
}

// sharedGPUs warns of GPUs that the worker of another cluster has, too.
func (p *problems) sharedGPUs(c Cluster, f Found, devices []nvdocker.Device) {
	for _, o := range f.Containers {
		if o.Labels[ClusterLabel] == c.Name || o.Labels[RoleLabel] != Worker || !o.Running() {
			continue
		}
		var shared []string
		for _, d := range devices {
			if hasGPU(o.Devices, d) {
				shared = append(shared, d.Number)
			}
		}
		if len(shared) > 0 {
			slices.Sort(shared)
			are := "GPU " + shared[0] + " is"
			if len(shared) > 1 {
				are = "GPUs " + strings.Join(shared, ", ") + " are"
			}
			p.warn("give each cluster GPUs of its own with gpus:; otherwise tasks of one wait "+
				"while those of the other use a GPU", "%s also used by the worker of %s's cluster %s", are,
				o.Labels[OwnerLabel], o.Labels[ClusterLabel])
		}
	}
}
