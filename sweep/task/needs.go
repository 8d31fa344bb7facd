package task

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Bounds of Needs.
const (
	MaxCPUs   = 4096
	MaxLabels = 64
	maxLabel  = 128 // bytes of a name, and of a value
)

// Labels that every host has.
const (
	HostLabel = "host" // its name
	ArchLabel = "arch" // its architecture, as Go names it
)

// Needs are what each task of a sweep needs of the host that runs it. The zero value is one slot.
type Needs struct {
	GPUs GPUs `json:"gpus,omitzero"`
	// whole ones that are kept for the task; 0: not said, which is one core of a worker whose slots
	// nobody chose, unless the task has GPUs
	CPUs   int   `json:"cpus,omitempty"`
	Memory int64 `json:"memory,omitempty"` // bytes that are kept for the task; 0: none
	// labels that the host must have
	On map[string]string `json:"on,omitempty"`
}

// Check returns why there is no such need; nil: there is.
func (n Needs) Check() error {
	if err := n.GPUs.Check(); err != nil {
		return err
	}
	switch {
	case n.CPUs < 0 || n.CPUs > MaxCPUs:
		return fmt.Errorf("%d is not a number of CPUs: it is whole, up to %d", n.CPUs, MaxCPUs)
	case n.Memory < 0:
		return errors.New("the memory is negative")
	}
	return CheckLabels(n.On)
}

// CheckLabels returns why a host cannot have these labels; nil: it can.
func CheckLabels(labels map[string]string) error {
	if len(labels) > MaxLabels {
		return fmt.Errorf("%d labels are more than %d", len(labels), MaxLabels)
	}
	for name, value := range labels {
		if name == "" || len(name) > maxLabel || len(value) > maxLabel {
			return fmt.Errorf("the label %.200q is empty or longer than %d bytes", name, maxLabel)
		}
	}
	return nil
}

// Reserved reports whether a host has to have something free for a task beyond a slot.
func (n Needs) Reserved() bool { return n.GPUs.Count > 0 || n.CPUs > 0 || n.Memory > 0 }

// None reports whether any host with a slot can run the tasks.
func (n Needs) None() bool { return !n.Reserved() && len(n.On) == 0 }

// Lacks returns, as name=value, the labels of On that a host does not have; none: it has all.
func (n Needs) Lacks(labels map[string]string) (missing []string) {
	if len(n.On) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(n.On)) {
		if value, has := labels[name]; !has || value != n.On[name] {
			missing = append(missing, name+"="+n.On[name])
		}
	}
	return missing
}

// LabelsText returns labels for people: "disk=fast, host=gpu2".
func LabelsText(labels map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, name+"="+labels[name])
	}
	return strings.Join(all, ", ")
}

// Device is a GPU that an attempt has.
type Device struct {
	UUID  string `json:"uuid"`
	Index string `json:"index,omitempty"` // as nvidia-smi numbers it where its worker runs: "0", "0:1"
	Name  string `json:"name,omitempty"`
}

// UUIDs returns the UUIDs of devices.
func UUIDs(devices []Device) (all []string) {
	for _, d := range devices {
		all = append(all, d.UUID)
	}
	return all
}
