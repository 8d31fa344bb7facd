// Package nvdocker is what is known of NVIDIA GPUs and of containers that use them: which GPUs a
// host has and how they are (Detect), which of them meet a need (Need), whether
// they are fit to work (Health), how a host's Docker hands them out (Supports), and what the errors
// of all these mean (Explain).
//
// It imports the standard library only. GPUs are read from the output of nvidia-smi, which comes
// with every driver; nothing is linked to the driver's libraries. All functions but Detect are
// pure. All may be called concurrently.
package nvdocker

import (
	"fmt"
	"strconv"
	"strings"
)

// Unknown is a number that a driver does not tell: it shows [N/A], [Not Supported], [Unknown Error]
// or ERR! for it.
const Unknown = -1

// Report is what a host says of its GPUs. The zero value is a host without any.
type Report struct {
	Driver string `json:"driver,omitempty"` // its version, as 570.133.07; "": no driver answers
	// the newest version that the driver can run, as 12.8; "": not told
	CUDA string `json:"cuda,omitempty"`
	GPUs []GPU  `json:"gpus,omitempty"` // by index; those without one last
	// why GPUs, or some of them, could not be listed; nil: none is known to be missing. It may hold
	// the driver's text
	Fault *Problem `json:"fault,omitempty"`
}

// GPU is one GPU of a host. Numbers may be Unknown.
type GPU struct {
	UUID  string `json:"uuid"`  // "GPU-..."; "": it does not tell
	Index int    `json:"index"` // nvidia-smi's number
	Name  string `json:"name"`  // "NVIDIA A100-SXM4-80GB"
	// its place on the PCI bus, as the kernel names it: "0000:07:00.0"
	Bus    string `json:"bus"`
	Memory int64  `json:"memory"`
	Used   int64  `json:"used"` // of the memory, in bytes, by whomever
	// percent of the last second in which a program ran on it
	Utilization int    `json:"utilization"`
	Temperature int    `json:"temperature"` // degrees Celsius
	ECC         string `json:"ecc"`         // "Enabled", "Disabled"; "": it has none
	// uncorrected errors of its memory since the driver was loaded
	Errors int `json:"errors"`
	// it is split: programs use its Instances, and never all of it
	MIG       bool       `json:"mig"`
	Instances []Instance `json:"instances,omitempty"`
	Processes []Process  `json:"processes,omitempty"`
	// why it does not answer, in the driver's words; "": it does
	Lost string `json:"lost,omitempty"`
}

// Instance is a part of a GPU that is split (MIG), with memory and processors of its own. Programs
// see it as a GPU.
type Instance struct {
	UUID    string `json:"uuid"`    // "MIG-..."
	Index   int    `json:"index"`   // within its GPU
	Profile string `json:"profile"` // "1g.10gb"
	// bytes by the name of its profile; Unknown: it has another name
	Memory int64 `json:"memory"`
}

// Process is a program that computes on a GPU. Those that draw, as desktops do, are not listed.
type Process struct {
	PID  int    `json:"pid"`
	User string `json:"user,omitempty"` // "": not told, as for one of another container
	// the program as the driver tells it, usually a path: another's text
	Name   string `json:"name"`
	Memory int64  `json:"memory"` // bytes; Unknown: not told
}

// Problem is what is wrong, and what to do about it. It is an error.
type Problem struct {
	Cause  string `json:"cause"`
	Remedy string `json:"remedy,omitempty"` // "": there is none to name
}

// Error is the cause, and the remedy behind a colon.
func (p *Problem) Error() string {
	if p.Remedy == "" {
		return p.Cause
	}
	return p.Cause + ": " + p.Remedy
}

// Number is how people call a GPU: nvidia-smi's number, or its place where it has none.
func (g GPU) Number() string {
	if g.Index == Unknown {
		return g.Bus
	}
	return strconv.Itoa(g.Index)
}

// Busy says who uses a GPU, for people, as "ben, python (pid 411), 6.0 GB"; "" when nobody does.
func (g GPU) Busy() string {
	all := make([]string, 0, len(g.Processes))
	for _, p := range g.Processes {
		text := fmt.Sprintf("%s (pid %d)", p.Name[strings.LastIndexByte(p.Name, '/')+1:], p.PID)
		if p.User != "" {
			text = p.User + ", " + text
		}
		if p.Memory != Unknown {
			text += ", " + Size(p.Memory)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// InUse says what keeps a GPU from being free, for people: as Busy does, or as "4.0 GB in use"
// where no program is listed, as in a container and for programs that draw; "" when it is free, or
// does not answer. Idle is that of Free.
func (g GPU) InUse(idle int64) string {
	switch busy := g.Busy(); {
	case g.Free(idle) || g.Lost != "":
		return ""
	case busy != "":
		return busy
	}
	return Size(g.Used) + " in use"
}

// Size shows bytes in the unit that drivers call MiB and people GB: 80 GB is 80 x 2^30.
func Size(bytes int64) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%d MB", bytes>>20)
	}
	return fmt.Sprintf("%.1f GB", float64(bytes)/(1<<30))
}
