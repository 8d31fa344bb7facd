package site

import (
	"fmt"
	"slices"
	"strconv"

	"mlframework/cmd/internal/cli"
	"mlframework/nvdocker"
)

// gpuCount returns how many GPUs of a host respond, and how many are lost; "" if it has none.
func gpuCount(r nvdocker.Report) string {
	lost := 0
	for _, g := range r.GPUs {
		if g.Lost != "" {
			lost++
		}
	}
	switch {
	case len(r.GPUs) == 0:
		return ""
	case lost > 0:
		return fmt.Sprintf("%d (%d lost)", len(r.GPUs)-lost, lost)
	}
	return strconv.Itoa(len(r.GPUs))
}

// gpus returns a table of the hosts' GPUs, and below it why some cannot be used; nil if there is
// nothing to show.
func (o *Overview) gpus(width int) (all []string) {
	g := cli.NewTable("HOST", "GPU", "STATE", "MEMORY", "USE", "TEMP", "NAME")
	var notes []string
	for _, h := range o.Hosts {
		for _, one := range h.NVIDIA.GPUs {
			memory := ""
			if one.Used != nvdocker.Unknown && one.Memory != nvdocker.Unknown {
				memory = fmt.Sprintf("%s of %s", gigabytes(one.Used), gigabytes(one.Memory))
			}
			state, why := gpuState(one)
			if why != "" {
				notes = append(notes, wrapped(h.Name+": "+why, "", width)...)
			}
			g.Add(h.Name, one.Number(), state, memory, known(one.Utilization, "%"),
				known(one.Temperature, " C"), gpuName(one))
		}
		if f := h.NVIDIA.Fault; f != nil {
			notes = append(notes, wrapped(h.Name+": "+f.Error(), "", width)...)
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

// gpuState returns whether a GPU is free, and what keeps it from being used.
func gpuState(g nvdocker.GPU) (state, why string) {
	switch sick := nvdocker.Health(g, nil); {
	case g.Lost != "":
		return "lost", sick[0].Error()
	case len(sick) > 0:
		return "unfit", sick[0].Error()
	case len(g.Processes) > 0:
		return "busy", "GPU " + g.Number() + " is used by " + g.Busy()
	case !g.Free():
		return "busy", ""
	}
	return "free", ""
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
