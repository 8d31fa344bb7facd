package nvdocker

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Device is what is handed out: a GPU, or an instance of one that is split.
type Device struct {
	UUID   string
	Name   string // of the card
	Memory int64  // bytes, or Unknown
	Number string // as CDI and nvidia-smi name it: "0", or "0:1" for the second instance of GPU 0
	Split  bool   // it is an instance
}

// Devices are those of GPUs that answer, in their order. A GPU that is split is its instances.
func Devices(gpus []GPU) (all []Device) {
	for _, g := range gpus {
		switch {
		case g.Lost != "" || g.UUID == "":
		case g.MIG:
			for _, i := range g.Instances {
				all = append(all, Device{i.UUID, g.Name, i.Memory, fmt.Sprintf("%d:%d", g.Index,
					i.Index), true})
			}
		default:
			all = append(all, Device{g.UUID, g.Name, g.Memory, fmt.Sprint(g.Index), false})
		}
	}
	return all
}

// Need is what one container or program asks for.
type Need struct {
	Count float64 // whole GPUs, or a part of one between 0 and 1; 0: none
	All   bool    // all GPUs that match, at least Count
	// Share says that as many have one GPU as have Memory in it: each has that part of it.
	Share bool
	// bytes that each has to have, all in all, give or take 3 %, as cards keep some back; 0: any
	Memory int64
	// a regular expression that the name of each matches, in any case of letters; "": any
	Name string
}

// Assignment is the devices that one container or program has. The zero value is none.
type Assignment struct {
	Devices []Device
	Share   float64 // of each: 1, or less where others use it, too
}

// tolerance is how far sums of shares may be off: three thirds are one.
const tolerance = 1e-9

// heldBack is the part of its memory that a card may keep for itself: an RTX 4090, sold with 24 GB,
// tells 24564 MiB.
const heldBack = 0.03

// Matches reports whether a device is one of those that the need can be met with: whoever needs
// several gets no instances. A Name that is no regular expression matches nothing.
func (n Need) Matches(d Device) bool { return n.matcher()(d) }

// Matching returns which of the devices the need can be met with, as positions.
func (n Need) Matching(devices []Device) (found []int) {
	matches := n.matcher()
	for i, d := range devices {
		if matches(d) {
			found = append(found, i)
		}
	}
	return found
}

// matcher is Matches with a Name that is compiled once.
func (n Need) matcher() func(Device) bool {
	name, err := regexp.Compile("(?i)" + n.Name)
	return func(d Device) bool {
		switch {
		case n.Count > 1 && d.Split, err != nil:
			return false
		case n.Memory > 0 && (d.Memory == Unknown ||
			float64(d.Memory) < float64(n.Memory)*(1-heldBack)):
			return false
		}
		return n.Name == "" || name.MatchString(d.Name)
	}
}

// Never returns what a host has, for people, if its devices can never meet the need: "2 x NVIDIA T4
// with 15.0 GB", "no GPU". It returns "" if they can.
func (n Need) Never(devices []Device) (has string) {
	if n.Count == 0 || len(n.Matching(devices)) >= int(max(1, n.Count)) {
		return ""
	}
	has = List(devices)
	if n.Count > 1 && slices.ContainsFunc(devices, func(d Device) bool { return d.Split }) {
		has += " (a program uses one instance at a time)"
	}
	return has
}

// Sharers returns how many can share a device that matches a need with Share.
func (n Need) Sharers(d Device) int {
	return max(1, int(float64(d.Memory)/(1-heldBack)/float64(n.Memory)))
}

// String is the need for people: "1 GPU", "2 GPUs with 40.0 GB each", "0.5 of a GPU", "1/3 of a
// GPU"; "no GPU" if nothing is needed.
func (n Need) String() string {
	wants, each := fmt.Sprintf("%v GPUs", n.Count), " each"
	switch {
	case n.Count == 0:
		return "no GPU"
	case n.All:
		wants = "all GPUs of a host"
	case n.Share:
		wants, each = "a GPU that others share", " for each task"
	case n.Count == 1:
		wants, each = "1 GPU", ""
	case n.Count < 1:
		wants, each = partText(n.Count)+" of a GPU", ""
	}
	if n.Memory > 0 {
		wants += " with " + Size(n.Memory) + each
	}
	if n.Name != "" {
		wants += fmt.Sprintf(" whose name matches %q", n.Name)
	}
	return wants
}

// partText writes a part of one: as a decimal if three digits are exact, else as 1/n if it is one.
func partText(part float64) string {
	text := strconv.FormatFloat(part, 'g', 3, 64)
	n := math.Round(1 / part)
	if exact, _ := strconv.ParseFloat(text, 64); exact != part &&
		math.Abs(part*n-1) < tolerance {
		return fmt.Sprintf("1/%.0f", n)
	}
	return text
}

// List is devices for people, equal ones together: "2 x NVIDIA T4 with 15.0 GB"; "no GPU" without
// any.
func List(devices []Device) string {
	if len(devices) == 0 {
		return "no GPU"
	}
	counts := map[string]int{}
	var names []string
	for _, d := range devices {
		name := d.Name
		if d.Memory != Unknown {
			name += " with " + Size(d.Memory)
		}
		if d.Split {
			name = "instance of " + name
		}
		if counts[name]++; counts[name] == 1 {
			names = append(names, name)
		}
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%d x %s", counts[name], name)
	}
	return strings.Join(names, ", ")
}

// UUIDs of the devices, in their order.
func (a Assignment) UUIDs() (all []string) {
	for _, d := range a.Devices {
		all = append(all, d.UUID)
	}
	return all
}

// Environment lets a program see these devices and no others, as NAME=value: by nvidia-smi's numbers,
// which programs read with int(), in the order of that program, and by UUID only where one is an
// instance, which has no number. GPU_UUIDS has the UUIDs. Without devices it sees none: for CUDA an
// empty list is none, for containers the word is void.
func (a Assignment) Environment() []string {
	uuids := strings.Join(a.UUIDs(), ",")
	if uuids == "" {
		return []string{"CUDA_VISIBLE_DEVICES=", "NVIDIA_VISIBLE_DEVICES=void", "GPU_UUIDS="}
	}
	names := make([]string, len(a.Devices))
	for i, d := range a.Devices {
		names[i] = d.Number
	}
	list := strings.Join(names, ",")
	if slices.ContainsFunc(a.Devices, func(d Device) bool { return d.Split }) {
		list = uuids
	}
	return []string{"CUDA_DEVICE_ORDER=PCI_BUS_ID", "CUDA_VISIBLE_DEVICES=" + list,
		"NVIDIA_VISIBLE_DEVICES=" + list, "GPU_UUIDS=" + uuids}
}

// Request is a device request of Docker's API (HostConfig.DeviceRequests).
type Request struct {
	Driver       string
	DeviceIDs    []string
	Capabilities [][]string
	Options      map[string]string
}

// Request asks Docker for the devices through NVIDIA's hook; nil without devices. They are named by
// UUID: a number of devices, as docker run --gpus 2 asks for, would be the first ones, whoever has
// them.
func (a Assignment) Request() *Request {
	if len(a.Devices) == 0 {
		return nil
	}
	return &Request{Driver: "nvidia", DeviceIDs: a.UUIDs(),
		Capabilities: [][]string{{"gpu", "compute", "utility"}}}
}

// kind begins the names that NVIDIA's devices have in CDI.
const kind = "nvidia.com/gpu="

// CDI asks Docker for the devices by their names in CDI, of those that a host lists: by UUID, else
// by number. It is false where one has no name there. Listed nil is a host that does not tell: they
// are named by UUID.
func (a Assignment) CDI(listed []string) (request *Request, ok bool) {
	if len(a.Devices) == 0 {
		return nil, true
	}
	request = &Request{Driver: "cdi"}
	for _, d := range a.Devices {
		name := kind + d.UUID
		if listed != nil && !slices.Contains(listed, name) {
			if name = kind + d.Number; !slices.Contains(listed, name) {
				return nil, false
			}
		}
		request.DeviceIDs = append(request.DeviceIDs, name)
	}
	return request, true
}
