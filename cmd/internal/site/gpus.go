package site

import (
	"fmt"
	"slices"
	"strconv"

	"mlframework/cmd/internal/cli"
	"mlframework/config"
	"mlframework/infra"
	"mlframework/infra/plan"
	"mlframework/nvdocker"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// hostGPUs returns how many GPUs of a host respond, as "1 of 2" where its worker was given fewer of
// them; "" if it has none. A GPU that is split counts as its instances.
func hostGPUs(h infra.HostStatus) string {
	if len(h.NVIDIA.GPUs) == 0 {
		return ""
	}
	n := len(nvdocker.Devices(h.NVIDIA.GPUs))
	if given, has := givenGPUs(h); has && given < n {
		return fmt.Sprintf("%d of %d", given, n)
	}
	return strconv.Itoa(n)
}

// givenGPUs returns how many GPUs the worker of a host was given, if there is one.
func givenGPUs(h infra.HostStatus) (n int, has bool) {
	i := slices.IndexFunc(h.Containers, func(c infra.ContainerStatus) bool {
		return c.Role == plan.Worker
	})
	if i < 0 {
		return 0, false
	}
	return h.Containers[i].GPUs, true
}

// gpus returns a table of the hosts' GPUs, and below it why some cannot be used, but for those that
// are faults; nil if there is nothing to show.
func (o *Overview) gpus(width int) (all []string) {
	g := cli.NewTable("HOST", "GPU", "STATE", "MEMORY", "USE", "TEMP", "NAME")
	var notes []string
	for _, h := range o.Hosts {
		w, _ := o.worker(h.Name)
		for _, one := range h.NVIDIA.GPUs {
			memory := ""
			if one.Used != nvdocker.Unknown && one.Memory != nvdocker.Unknown {
				memory = fmt.Sprintf("%s of %s", gigabytes(one.Used), gigabytes(one.Memory))
			}
			state, why := gpuState(one, h, w)
			if why != "" && gpuFault(one, h, w) == nil {
				notes = append(notes, wrapped(h.Name+": "+why, "", width)...)
			}
			g.Add(h.Name, one.Number(), state, memory, known(one.Utilization, "%"),
				known(one.Temperature, " C"), gpuName(one))
		}
		if f := h.NVIDIA.Fault; f != nil && driverFault(h, w) == nil {
			notes = append(notes, wrapped(h.Name+": "+f.Error(), "", width)...)
		}
		given, has := givenGPUs(h)
		if n := len(nvdocker.Devices(h.NVIDIA.GPUs)); has && given < n {
			notes = append(notes, wrapped(fmt.Sprintf("%s: its worker was given %d of %d GPUs: "+
				"see gpus in cluster.yml", h.Name, given, n), "", width)...)
		}
	}
	for _, w := range o.Workers {
		for _, k := range keptBy(w, o.nameOf(w)) {
			if !k.broken { // else it is a fault
				notes = append(notes, wrapped(w.Name+": "+k.String(), "", width)...)
			}
		}
	}
	if g.Len() > 0 {
		all = append(append(all, ""), g.Lines(width)...)
	}
	if len(notes) > 0 {
		all = append(append(all, ""), notes...)
	}
	return all
}

// nameOf returns how a GPU that a worker gives to no task is called: by its number on the host, if
// that tells it; "": what is said of it by what the host tells is enough.
func (o *Overview) nameOf(w core.Worker) func(task.GPU) string {
	return func(p task.GPU) string {
		h := slices.IndexFunc(o.Hosts, func(h infra.HostStatus) bool { return h.Name == w.Name })
		if h < 0 {
			return human.GPU(p.UUID)
		}
		gpus, fault := o.Hosts[h].NVIDIA.GPUs, driverFault(o.Hosts[h], w)
		if p.Broken && fault != nil && p.Unavailable == human.Visible(fault.Cause) {
			return ""
		}
		i := slices.IndexFunc(gpus, func(g nvdocker.GPU) bool {
			return slices.Contains(uuids(g), p.UUID)
		})
		if i < 0 {
			return human.GPU(p.UUID)
		}
		g := gpus[i]
		_, why := gpuState(g, o.Hosts[h], w)
		switch {
		case gpuFault(g, o.Hosts[h], w) != nil, why != "" && !p.Broken:
			return ""
		case p.Split:
			return human.GPU(p.UUID)
		}
		return "GPU " + g.Number()
	}
}

// uuids of a GPU and of its parts, if it is split.
func uuids(g nvdocker.GPU) (all []string) {
	if g.UUID != "" {
		all = append(all, g.UUID)
	}
	for _, i := range g.Instances {
		all = append(all, i.UUID)
	}
	return all
}

// ofWorker returns what a worker has of a GPU of its host: the GPU itself, or parts of it.
func ofWorker(g nvdocker.GPU, w core.Worker) (parts []task.GPU) {
	if !hasGPUs(w) {
		return nil
	}
	all := uuids(g)
	for _, part := range w.GPUs {
		if slices.Contains(all, part.UUID) {
			parts = append(parts, part)
		}
	}
	return parts
}

// gpuState returns who has a GPU, by what its host and the worker there tell, and what the host
// says that keeps it from being used.
func gpuState(g nvdocker.GPU, h infra.HostStatus, w core.Worker) (state, why string) {
	parts := ofWorker(g, w)
	given := task.Given(parts)
	switch sick := nvdocker.Health(g, nil); {
	case g.Lost != "":
		return "lost", sick[0].Error()
	case given > 0:
		return tasksState(g, given), ""
	case len(sick) > 0:
		return "unfit", sick[0].Error()
	case slices.ContainsFunc(parts, func(p task.GPU) bool { return p.Broken }):
		return "unfit", ""
	case len(g.Processes) > 0 && !g.Free(nvdocker.Idle):
		return "busy", "GPU " + g.Number() + " is used by " + g.Busy()
	case (len(parts) == 0 || withheld(parts)) && !g.Free(nvdocker.Idle):
		return "busy", "GPU " + g.Number() + ": " + g.InUse(nvdocker.Idle) + ", by no program " +
			"that computes: nvidia-smi on the host also lists programs that draw (type G), as " +
			"desktops do; memory that none of them has may be left from a program that was " +
			"killed, and sudo nvidia-smi --gpu-reset -i " + g.Number() + " frees it"
	case withheld(parts):
		return "busy", ""
	case len(parts) == 0:
		return stateApart(h, w), ""
	}
	return "free", ""
}

// stateApart returns the state of an unused GPU that its host's worker does not list.
func stateApart(h infra.HostStatus, w core.Worker) string {
	given, has := givenGPUs(h)
	switch {
	case unseenGPUs(h, w) > 0:
		return "unseen"
	case has && given == 0, hasGPUs(w):
		return "excluded" // as cluster.yml says of the host
	}
	return "free"
}

// unseenGPUs is how many of the GPUs that a worker was given it does not tell of; 0 also where it
// tells nothing at all. One that was lost while the worker ran is told of.
func unseenGPUs(h infra.HostStatus, w core.Worker) int {
	given, _ := givenGPUs(h)
	if w.Seen == nil || w.State == core.WorkerAway {
		return 0
	}
	return max(0, given-len(w.GPUs))
}

// withheld reports whether a worker gives any of these to no task.
func withheld(parts []task.GPU) bool {
	return slices.ContainsFunc(parts, func(p task.GPU) bool { return p.Unavailable != "" })
}

// tasksState is the state of a GPU that tasks of the cluster have, all of it or a part.
func tasksState(g nvdocker.GPU, given float64) string {
	switch {
	case g.MIG:
		return fmt.Sprintf("tasks: %s of %d", human.Share(given), len(g.Instances))
	case human.Share(given) != "1":
		return "tasks: " + human.Share(given)
	}
	return "tasks"
}

// gpuFault returns why a worker's GPU is out of order, according to its host; nil if it is not. One
// that is lost is the worker's if it was given it, or would have been.
// Being in use is not a fault. The host and the worker looked at different times and both found a
// fault, so that what a program leaves for a moment when it ends does not count.
func gpuFault(g nvdocker.GPU, h infra.HostStatus, w core.Worker) *nvdocker.Problem {
	sick := nvdocker.Health(g, nil)
	if len(sick) == 0 {
		return nil
	}
	parts := ofWorker(g, w)
	if withheld(parts) || g.Lost != "" && (len(parts) > 0 || h.LostGPUs > 0 ||
		unseenGPUs(h, w) > 0 || g.UUID == "" && hasUnlisted(h, w)) {
		return &sick[0]
	}
	return nil
}

// noteLostGPUs notes how many GPUs the workers of hosts lack that cluster.yml gives them.
func (s *Site) noteLostGPUs(hosts []infra.HostStatus) {
	selection, _ := s.Config.Selection() // without one, workers are to have all
	for i := range hosts {
		var want config.GPUs
		for _, w := range selection.Workers {
			if w.Name == hosts[i].Name {
				want = s.Config.Host(w.Address).GPUs
			}
		}
		if hosts[i].Worker {
			hosts[i].LostGPUs = plan.LostGPUs(want, hosts[i].NVIDIA)
		}
	}
}

// hasUnlisted reports whether a worker tells of a GPU that its host does not: one that fell off the
// bus may tell no UUID any more.
func hasUnlisted(h infra.HostStatus, w core.Worker) bool {
	var listed []string
	for _, g := range h.NVIDIA.GPUs {
		listed = append(listed, uuids(g)...)
	}
	return hasGPUs(w) && slices.ContainsFunc(w.GPUs, func(p task.GPU) bool {
		return !slices.Contains(listed, p.UUID)
	})
}

// driverFault returns why GPUs of a host cannot be listed, if its worker was given more of them
// than it has of those that are; nil: it was not.
func driverFault(h infra.HostStatus, w core.Worker) *nvdocker.Problem {
	given, _ := givenGPUs(h)
	if w.Name == "" { // the master has not heard of it, which is a fault itself
		return nil
	}
	for _, g := range h.NVIDIA.GPUs {
		if g.Lost == "" {
			given -= len(ofWorker(g, w))
		}
	}
	if given <= 0 {
		return nil
	}
	return h.NVIDIA.Fault
}

// hostGPUs finds GPUs of a host that its worker was given and that are out of order, as the host
// tells, or that the worker does not see.
func (f *faults) hostGPUs(h infra.HostStatus, w core.Worker) {
	unseen := unseenGPUs(h, w)
	for _, g := range h.NVIDIA.GPUs {
		if p := gpuFault(g, h, w); p != nil {
			f.add(h.Name, p.Remedy, "%s", p.Cause)
			if g.Lost != "" && len(ofWorker(g, w)) == 0 {
				unseen-- // that is why
			}
		}
	}
	if p := driverFault(h, w); p != nil {
		f.add(h.Name, p.Remedy, "%s", p.Cause)
		return
	}
	if unseen > 0 && !f.stopped[h.Name+"/"+plan.Worker] {
		given, _ := givenGPUs(h)
		if cause := listingFault(w); cause != "" {
			f.add(h.Name, remedyOfGPUs(cause, h.Name), "its worker cannot list the GPUs that it "+
				"was given: %s", cause)
			return
		}
		f.add(h.Name, "check-status --logs "+h.Name+" shows why; run-tasks workers restart "+
			h.Name+" starts it anew", "its worker sees %d of %d GPUs that it was given",
			len(w.GPUs), given)
	}
}

// gpus finds GPUs that a worker has, or was given, and that are out of order: as the host tells, or
// as the worker does.
func (f *faults) gpus(o *Overview) {
	for _, h := range o.Hosts {
		w, _ := o.worker(h.Name)
		f.hostGPUs(h, w)
	}
	for _, w := range o.Workers {
		for _, k := range keptBy(w, o.nameOf(w)) {
			if !k.broken {
				continue
			}
			f.add(w.Name, remedyOfGPUs(k.why, w.Name), "%s", k)
		}
	}
}

// remedyOfGPUs is what to do about what a worker tells of its GPUs.
func remedyOfGPUs(cause, worker string) string {
	if known := nvdocker.Explain(cause); known != nil {
		return known.Remedy
	}
	return "if nvidia-smi works on the host, run-tasks workers restart " + worker +
		" starts the container anew, with its GPUs"
}

// gpuName returns the name of the card, followed by its MIG instances if it is split.
func gpuName(g nvdocker.GPU) string {
	var profiles []string
	counts := map[string]int{}
	for _, i := range g.Instances {
		if counts[i.Profile]++; counts[i.Profile] == 1 {
			profiles = append(profiles, i.Profile)
		}
	}
	name := g.Name
	for n, p := range slices.All(profiles) {
		name += map[bool]string{true: ", split: ", false: ", "}[n == 0] +
			fmt.Sprintf("%d x %s", counts[p], p)
	}
	return name
}

// known returns a number with its unit, or "" if it is nvdocker.Unknown.
func known(n int, unit string) string {
	if n == nvdocker.Unknown {
		return ""
	}
	return strconv.Itoa(n) + unit
}
