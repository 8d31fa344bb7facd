package nvdocker

import (
	"cmp"
	"errors"
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

// Errors of Assign.
var (
	ErrNever = errors.New("this host can never give that")
	ErrBusy  = errors.New("others have them now")
)

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

// Assign chooses devices. Used are the shares that others have, by UUID: 1 is all of it. A part of
// a device is taken where others have some of it already, the fullest first, so that whole ones
// stay free; of those that are used alike, the ones with less memory come first, and then those
// that devices lists first. The error is one that wraps ErrNever, mostly a *NeverError, or ErrBusy
// when the need can be met later.
//
// It reserves nothing: the caller keeps used. Two programs that Detect and Assign at the same time
// get the same devices.
//
// Programs of CUDA use one instance of a split GPU at a time, so nobody gets two.
func Assign(devices []Device, used map[string]float64, need Need) (Assignment, error) {
	if need.Count == 0 {
		return Assignment{}, nil
	}
	if !(need.Count > 0) || need.Count > 1 && need.Count != math.Trunc(need.Count) ||
		math.IsInf(need.Count, 0) {
		return Assignment{}, fmt.Errorf("%w: %v GPUs are neither a whole number nor a part of one",
			ErrNever, need.Count)
	}
	fit := slices.Clone(devices)
	matches := need.matcher()
	fit = slices.DeleteFunc(fit, func(d Device) bool { return !matches(d) })
	count := int(max(1, need.Count))
	if len(fit) < count {
		return Assignment{}, &NeverError{need, has(devices, fit, need)}
	}
	if need.All {
		count = len(fit)
	}
	fit = slices.DeleteFunc(fit, func(d Device) bool {
		return used[d.UUID]+need.PartOf(d) > 1+tolerance
	})
	if len(fit) < count {
		return Assignment{}, ErrBusy
	}
	slices.SortStableFunc(fit, func(a, b Device) int {
		return cmp.Or(cmp.Compare(used[b.UUID], used[a.UUID]), cmp.Compare(a.Memory, b.Memory))
	})
	return Assignment{Devices: fit[:count:count], Share: need.PartOf(fit[0])}, nil
}

// PartOf returns which part of a device that matches the need takes: 1 is all of it.
func (n Need) PartOf(d Device) float64 {
	if n.Share {
		return 1 / float64(n.Sharers(d))
	}
	return min(1, n.Count)
}

// Sharers returns how many can share a device that matches a need with Share.
func (n Need) Sharers(d Device) int {
	return max(1, int(float64(d.Memory)/(1-heldBack)/float64(n.Memory)))
}

// NeverError is that a host can never meet a need. It wraps ErrNever.
type NeverError struct {
	Need Need
	Has  string // what the host has: "2 x NVIDIA T4 with 15.0 GB", "no GPU"
}

func (e *NeverError) Error() string {
	are := " is"
	if e.Need.Count > 1 {
		are = " are"
	}
	return fmt.Sprintf("%v: %v%s asked for, and it has %s", ErrNever, e.Need, are, e.Has)
}

func (e *NeverError) Unwrap() error { return ErrNever }

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

// has says what a host has, against a need that it can never meet.
func has(all, fit []Device, need Need) string {
	text := List(all)
	if need.Count > 1 && len(fit) < int(need.Count) && slices.ContainsFunc(all,
		func(d Device) bool { return d.Split }) {
		text += " (a program uses one instance at a time)"
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
