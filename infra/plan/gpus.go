package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mlframework/config"
	"mlframework/infra/docker"
	"mlframework/nvdocker"
)

// visibleVariable is the variable by which images ask NVIDIA's runtime for GPUs. Many set it to
// "all", which counts where that runtime is Docker's default.
const visibleVariable = "NVIDIA_VISIBLE_DEVICES"

// locksVariable names to a worker the folder of the locks of GPUs.
const locksVariable = "MLFRAMEWORK_GPU_LOCKS"

// cdiKind begins the names of NVIDIA's GPUs in CDI.
const cdiKind = "nvidia.com/gpu="

// chosenGPUs are the GPUs of a host that its worker gets.
type chosenGPUs struct {
	devices []nvdocker.Device // in the order of their UUIDs
	// lost is how many more it would have if all of the host's GPUs responded.
	lost    int
	assumed []string          // UUIDs in the configuration that are taken for those of lost GPUs
	problem *nvdocker.Problem // why the host cannot give what is asked for
}

// gpusOf returns the GPUs that a host's worker gets.
func gpusOf(h Host, f Found) (g chosenGPUs) {
	want := h.Work.GPUs
	responding := nvdocker.Devices(f.GPUs.GPUs)
	lost := 0
	for _, one := range f.GPUs.GPUs {
		if one.Lost != "" {
			lost++
		}
	}
	switch {
	case want.None:
		return chosenGPUs{}
	case len(want.Devices) > 0:
		g = namedGPUs(want, f.GPUs.GPUs)
	default:
		g.devices, g.lost = responding, lost
	}
	if g.problem == nil && len(g.devices) == 0 && len(f.GPUs.GPUs) > 0 {
		can := "responds"
		if lost == 0 { // they are split, and have no instances
			can = "can be used"
		}
		g.problem = &nvdocker.Problem{Cause: "none of the worker's GPUs " + can,
			Remedy: "run nvidia-smi on the host, and repair what it reports"}
	}
	slices.SortFunc(g.devices, func(a, b nvdocker.Device) int {
		return strings.Compare(a.UUID, b.UUID)
	})
	return g
}

// LostGPUs returns how many of the GPUs that a worker is to have do not respond.
func LostGPUs(want config.GPUs, host nvdocker.Report) int {
	return gpusOf(Host{Work: &config.HostOptions{GPUs: want}}, Found{GPUs: host}).lost
}

// hasGPU reports whether a device is among those that were asked for.
func hasGPU(asked []docker.Device, d nvdocker.Device) bool {
	return slices.ContainsFunc(gpuIDs(asked), func(id string) bool { return isNamed(d, id) })
}

// isNamed reports whether a UUID or number is that of a device.
func isNamed(d nvdocker.Device, id string) bool { return id == d.UUID || id == d.Number }

// gpuIDs are the UUIDs or numbers of the GPUs that are asked for.
func gpuIDs(asked []docker.Device) (ids []string) {
	for _, one := range asked {
		for _, id := range one.IDs {
			ids = append(ids, strings.TrimPrefix(id, cdiKind))
		}
	}
	return ids
}

// GPUsOf returns how many GPUs a container was given.
func GPUsOf(c docker.Container) int { return len(gpuIDs(c.Devices)) }

// namedGPUs returns the devices that the configuration names. A GPU that is split stands for its
// instances. One that is lost has no number any more, and maybe no UUID: names that fit none are
// taken for those of lost GPUs, as long as there are so many that may have them.
func namedGPUs(want config.GPUs, gpus []nvdocker.GPU) (g chosenGPUs) {
	var uuids, others []string // that fit none
	known := 0                 // lost GPUs that are named by their UUID
	for _, name := range want.Devices {
		devices, matches := namedGPU(name, gpus)
		switch {
		case len(matches) > 1:
			g.problem = &nvdocker.Problem{Cause: fmt.Sprintf("gpus: %s: %s begins the UUIDs of %d "+
				"GPUs: %s", want, name, len(matches), strings.Join(matches, ", ")),
				Remedy: "write more of the UUID"}
			return g
		case len(devices) == 0 && len(matches) == 1 && isLost(name, gpus):
			known++
		case len(devices) == 0 && len(matches) == 1: // it is split, and has no instances
		case len(devices) == 0 && strings.HasPrefix(name, "GPU-"):
			uuids = append(uuids, name)
		case len(devices) == 0:
			others = append(others, name)
		}
		for _, d := range devices {
			if !slices.Contains(g.devices, d) {
				g.devices = append(g.devices, d)
			}
		}
	}
	lost, anonymous := 0, 0
	for _, one := range gpus {
		if one.Lost != "" {
			lost++
			if one.UUID == "" {
				anonymous++
			}
		}
	}
	none := slices.DeleteFunc(slices.Clone(others), func(name string) bool {
		return mayBeNumber(name, len(gpus))
	})
	if len(uuids) > anonymous {
		none = append(none, uuids...)
	}
	if len(none) == 0 && known+len(uuids)+len(others) > lost {
		none = append(others, uuids...)
	}
	if len(none) > 0 {
		g.problem = &nvdocker.Problem{Cause: fmt.Sprintf("gpus: %s: there is no GPU %s; there is: "+
			"%s", want, strings.Join(none, ", "), gpuList(nvdocker.Devices(gpus), none))}
	}
	g.lost, g.assumed = known+len(uuids)+len(others), uuids
	return g
}

// namedGPU returns the devices that a number or UUID names: those of a GPU, or an instance. The
// beginning of a UUID is enough where only one has it: matches are the UUIDs, or numbers, that fit.
func namedGPU(name string, gpus []nvdocker.GPU) (found []nvdocker.Device, matches []string) {
	for _, one := range gpus {
		devices := nvdocker.Devices([]nvdocker.GPU{one})
		if one.Number() == name || strings.HasPrefix(one.UUID, name) {
			matches = append(matches, cmp.Or(one.UUID, name))
			found = append(found, devices...)
			continue
		}
		for _, d := range devices {
			if d.Split && (d.Number == name || strings.HasPrefix(d.UUID, name)) {
				matches = append(matches, d.UUID)
				found = append(found, d)
			}
		}
	}
	if len(matches) > 1 {
		return nil, matches
	}
	return found, matches
}

// isLost reports whether a number or UUID names a GPU that does not respond.
func isLost(name string, gpus []nvdocker.GPU) bool {
	return slices.ContainsFunc(gpus, func(one nvdocker.GPU) bool {
		return one.Lost != "" && (one.Number() == name || strings.HasPrefix(one.UUID, name))
	})
}

// mayBeNumber reports whether a name can be that of one of so many GPUs, or of an instance: they
// are counted from 0.
func mayBeNumber(name string, gpus int) bool {
	number, _, _ := strings.Cut(name, ":")
	n, err := strconv.Atoi(number)
	return err != nil || n < gpus
}

// gpuList is the GPUs of a host for people who named some that are not there, by what they named
// them: "0 (NVIDIA L4), 1 (NVIDIA L4)", "GPU-5f1c (NVIDIA L4)".
func gpuList(devices []nvdocker.Device, names []string) string {
	byUUID := slices.ContainsFunc(names, func(name string) bool {
		return strings.Contains(name, "-")
	})
	var all []string
	for _, d := range devices {
		name := d.Number
		if byUUID {
			name = d.UUID
		}
		all = append(all, fmt.Sprintf("%s (%s)", name, d.Name))
	}
	return cmp.Or(strings.Join(all, ", "), "none")
}

// countedGPUs are GPUs for people: "2 GPUs (NVIDIA L4)"; "none".
func countedGPUs(devices []nvdocker.Device) string {
	var names []string
	for _, d := range devices {
		if !slices.Contains(names, d.Name) {
			names = append(names, d.Name)
		}
	}
	if len(devices) == 0 {
		return "none"
	}
	return fmt.Sprintf("%s (%s)", countGPUs(len(devices)), strings.Join(names, ", "))
}

// countGPUs is a number of GPUs for people: "1 GPU", "2 GPUs".
func countGPUs(n int) string {
	if n == 1 {
		return "1 GPU"
	}
	return fmt.Sprintf("%d GPUs", n)
}

// requestGPUs is how the host's Docker is asked for devices: by CDI where it knows them all, else
// by device requests. The problem is why it cannot pass them to containers.
func (f Found) requestGPUs(devices []nvdocker.Device) ([]docker.Device, *nvdocker.Problem) {
	if len(devices) == 0 {
		return nil, nil
	}
	d := nvdocker.Docker{Version: f.Engine.Version, Runtimes: f.Engine.Runtimes,
		SpecDirs: f.Engine.CDISpecDirs, Discovered: f.Engine.CDIDevices,
		Rootless: f.Engine.Rootless(), Root: f.Engine.Root, Toolkit: f.Toolkit,
		Hook: f.NVIDIAHook, Specs: f.CDISpecs}
	all := nvdocker.Assignment{Devices: devices, Share: 1}
	support := nvdocker.Supports(d)
	if support.Way == nvdocker.ByCDI {
		if request, ok := all.CDI(f.cdiNames(d)); ok {
			return []docker.Device{{Driver: request.Driver, IDs: request.DeviceIDs}}, nil
		}
		d.SpecDirs, d.Discovered, d.Specs = nil, nil, nil
		if support = nvdocker.Supports(d); support.Way == nvdocker.ByNone {
			support.Problem = &nvdocker.Problem{Cause: "the CDI specification lacks " +
				"some of them", Remedy: "run nvdocker-install for this host"}
		}
	}
	if support.Way == nvdocker.ByNone {
		return nil, support.Problem
	}
	request := all.Request()
	return []docker.Device{{Driver: request.Driver, IDs: request.DeviceIDs,
		Capabilities: request.Capabilities[0]}}, nil
}

// cdiNames are the names that the host's devices have in CDI, as Docker tells them, else as its
// specifications do; nil: neither does.
func (f Found) cdiNames(d nvdocker.Docker) (names []string) {
	if d.Tells() {
		return append([]string{}, d.Discovered...)
	}
	for _, name := range f.CDINames {
		names = append(names, cdiKind+name)
	}
	return names
}

// withGPUs gives a worker's container these devices, and no others: what its image asks NVIDIA's
// runtime for does not count. A host that has neither GPUs nor that runtime is as without gpus:, so
// that its worker is not replaced for a variable that nobody reads.
func withGPUs(s *docker.Spec, h Host, f Found, devices []docker.Device) {
	s.Devices = devices
	if len(devices) > 0 && !byCDI(devices) { // Docker sets the variable then
		return
	}
	may := f.GPUs.Fault != nil || slices.Contains(f.Engine.Runtimes, "nvidia")
	if len(f.GPUs.GPUs) > 0 || h.Work.GPUs.None && may {
		s.Env = append(s.Env, visibleVariable+"=void")
	}
}

// byCDI reports whether devices are asked for by their names in CDI.
func byCDI(asked []docker.Device) bool {
	return slices.ContainsFunc(asked, func(d docker.Device) bool { return d.Driver == "cdi" })
}

// keepsDevices reports whether the worker's container, as it runs, has the devices that it is to
// have, if by other names or in another way. It may also have GPUs that do not respond now, which
// it uses again when they do. Device requests are given up for CDI all the same: with them a
// container loses its GPUs when systemd is reloaded.
func (c Cluster) keepsDevices(h Host, f Found, old, wanted []docker.Device) bool {
	g := gpusOf(h, f)
	if len(old) == 0 || byCDI(wanted) && !byCDI(old) {
		return false
	}
	for _, d := range g.devices {
		if !hasGPU(old, d) {
			return false
		}
	}
	for _, id := range gpuIDs(old) {
		found, _ := namedGPU(id, f.GPUs.GPUs)
		isLost := g.lost > 0 && len(found) == 0
		if !isLost && !slices.ContainsFunc(g.devices, func(d nvdocker.Device) bool {
			return isNamed(d, id)
		}) {
			return false
		}
	}
	return true
}

// gpuDifference says how the GPUs of a container differ from those that it is to have, on a host
// with these devices; "": they do not.
func gpuDifference(host []nvdocker.Device, old, wanted []docker.Device) string {
	was, are := gpuIDs(old), gpuIDs(wanted)
	slices.Sort(was)
	slices.Sort(are)
	same := func(id string) bool {
		return slices.ContainsFunc(host, func(d nvdocker.Device) bool {
			return isNamed(d, id) && hasGPU(old, d)
		})
	}
	switch {
	case len(was) != len(are):
		return fmt.Sprintf("GPUs %d -> %d", len(was), len(are))
	case len(was) > 0 && byCDI(old) != byCDI(wanted):
		if byCDI(wanted) {
			return "GPUs by CDI"
		}
		return "GPUs by device requests"
	case slices.Equal(was, are):
		return ""
	case !slices.ContainsFunc(are, func(id string) bool { return !same(id) }):
		return "the same GPUs by other names"
	}
	return "other GPUs"
}
