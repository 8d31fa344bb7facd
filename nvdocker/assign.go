package nvdocker

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
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
				all = append(all, Device{i.UUID, g.Name, i.Memory, fmt.Sprintf("%d:%d", g.Index, i.Index), true})
			}
		default:
			all = append(all, Device{g.UUID, g.Name, g.Memory, fmt.Sprint(g.Index), false})
		}
	}
	return all
}

// Need is what one container or program asks for.
type Need struct {
	Count  float64 // whole GPUs, or a part of one between 0 and 1; 0: none
	Memory int64   // bytes that each has to have, all in all, give or take 3 %, as cards keep some back; 0: any
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

// heldBack is the part of its memory that a card may keep for itself: an RTX 4090, sold with 24 GB, tells 24564 MiB.
const heldBack = 0.03

// enough reports whether a device has the memory that is needed.
func (n Need) enough(d Device) bool {
	return n.Memory <= 0 || d.Memory != Unknown && float64(d.Memory) >= float64(n.Memory)*(1-heldBack)
}

// Assign chooses devices. Used are the shares that others have, by UUID: 1 is all of it. A part of a device is taken where others have
// some of it already, the fullest first, so that whole ones stay free; whole ones are taken in the order of devices. The error is one
// that wraps ErrNever, or ErrBusy when the need can be met later.
//
// It reserves nothing: the caller keeps used. Two programs that Detect and Assign at the same time get the same devices.
//
// Programs of CUDA use one instance of a split GPU at a time, so nobody gets two.
func Assign(devices []Device, used map[string]float64, need Need) (Assignment, error) {
	if need.Count == 0 {
		return Assignment{}, nil
	}
	if !(need.Count > 0) || need.Count > 1 && need.Count != math.Trunc(need.Count) || math.IsInf(need.Count, 0) {
		return Assignment{}, fmt.Errorf("%w: %v GPUs are neither a whole number nor a part of one", ErrNever, need.Count)
	}
	fit := slices.Clone(devices)
	fit = slices.DeleteFunc(fit, func(d Device) bool { return !need.enough(d) })
	if need.Count > 1 {
		fit = slices.DeleteFunc(fit, func(d Device) bool { return d.Split })
	}
	count, share := int(max(1, need.Count)), min(1, need.Count)
	if len(fit) < count {
		return Assignment{}, fmt.Errorf("%w: %s", ErrNever, lacks(devices, fit, need))
	}
	fit = slices.DeleteFunc(fit, func(d Device) bool { return used[d.UUID]+share > 1+tolerance })
	if len(fit) < count {
		return Assignment{}, ErrBusy
	}
	slices.SortStableFunc(fit, func(a, b Device) int {
		return cmp.Or(cmp.Compare(used[b.UUID], used[a.UUID]), cmp.Compare(a.Memory, b.Memory))
	})
	return Assignment{Devices: fit[:count:count], Share: share}, nil
}

// lacks says what a host has, against a need that it can never meet.
func lacks(all, fit []Device, need Need) string {
	has := "it has no GPU"
	if len(all) > 0 {
		counts := map[string]int{}
		var names []string
		for _, d := range all {
			name := d.Name
			if d.Memory != Unknown {
				name += " with " + size(d.Memory)
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
		has = "it has " + strings.Join(names, ", ")
	}
	wants, each, are := fmt.Sprintf("%v GPUs", need.Count), " each", " are"
	switch {
	case need.Count == 1:
		wants, each, are = "1 GPU", "", " is"
	case need.Count < 1:
		wants, each, are = fmt.Sprintf("%v of a GPU", need.Count), "", " is"
	}
	if need.Memory > 0 {
		wants += " with " + size(need.Memory) + each
	}
	if need.Count > 1 && len(fit) < int(need.Count) && slices.ContainsFunc(all, func(d Device) bool { return d.Split }) {
		has += " (a program uses one instance at a time)"
	}
	return wants + are + " asked for, and " + has
}

// UUIDs of the devices, in their order.
func (a Assignment) UUIDs() []string {
	all := make([]string, len(a.Devices))
	for i, d := range a.Devices {
		all[i] = d.UUID
	}
	return all
}

// Environment lets a program see these devices and no others, as NAME=value. Without devices it sees none: for CUDA an empty list is
// none, for containers the word is void.
func (a Assignment) Environment() []string {
	list := strings.Join(a.UUIDs(), ",")
	return []string{"CUDA_VISIBLE_DEVICES=" + list, "NVIDIA_VISIBLE_DEVICES=" + cmp.Or(list, "void")}
}

// Request is a device request of Docker's API (HostConfig.DeviceRequests).
type Request struct {
	Driver       string
	DeviceIDs    []string
	Capabilities [][]string
	Options      map[string]string
}

// Request asks Docker for the devices through NVIDIA's hook; nil without devices. They are named by UUID: a number of devices, as
// docker run --gpus 2 asks for, would be the first ones, whoever has them.
func (a Assignment) Request() *Request {
	if len(a.Devices) == 0 {
		return nil
	}
	return &Request{Driver: "nvidia", DeviceIDs: a.UUIDs(), Capabilities: [][]string{{"gpu", "compute", "utility"}}}
}

// kind begins the names that NVIDIA's devices have in CDI.
const kind = "nvidia.com/gpu="

// CDI asks Docker for the devices by their names in CDI, of those that a host lists: by UUID, else by number. It is false where one
// has no name there. Listed nil is a host that does not tell: they are named by UUID.
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
