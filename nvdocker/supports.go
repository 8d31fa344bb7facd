package nvdocker

import (
	"slices"
	"strconv"
	"strings"
)

// Way is how a host's Docker hands out GPUs.
type Way string

// Ways, the best first. With CDI the container keeps its GPUs when systemd is reloaded.
const (
	ByCDI     Way = "cdi"     // names of a CDI specification
	ByRequest Way = "request" // device requests, by NVIDIA's hook
	ByNone    Way = ""        // not at all
)

// Docker is what a host's Docker says of itself (GET /info), and what is known of its host.
type Docker struct {
	Version  string   // of the engine: "28.2.2"
	Runtimes []string // "runc", "nvidia"
	// where it looks for CDI specifications; none: the feature is off, or it is older than 25
	SpecDirs   []string
	Discovered []string // devices that it found there, as "nvidia.com/gpu=0"; it tells from 28.2 on
	Rootless   bool
	Root       string // its data, as "/var/lib/docker"

	Toolkit string // version of nvidia-ctk on the host; "": it is not there
	// NVIDIA's hook was on the host when Docker started, as far as is known: then Docker takes
	// device requests whatever runtimes it knows
	Hook  bool
	Specs []string // files with NVIDIA's devices on the host, below /etc/cdi or /var/run/cdi
}

// Support is the way to take, and why it is not a better one.
type Support struct {
	Way     Way
	Problem *Problem // why there is none; nil: there is
}

// Supports decides how a host hands out GPUs.
func Supports(d Docker) Support {
	nvidia := slices.ContainsFunc(d.Discovered, func(name string) bool {
		return strings.HasPrefix(name, kind)
	})
	switch {
	case d.Snap():
		return Support{Problem: &Problem{"Docker is the snap, which cannot use the NVIDIA " +
			"container toolkit",
			"install Docker from a package: sudo snap remove docker, then " +
				"https://docs.docker.com/engine/install/ (containers and volumes of the snap are " +
				"not taken over)"}}
	case nvidia:
		return Support{Way: ByCDI}
	case len(d.SpecDirs) > 0 && len(d.Specs) > 0 && !d.Tells():
		return Support{Way: ByCDI}
	case d.Hook || slices.Contains(d.Runtimes, "nvidia"):
		return Support{Way: ByRequest}
	case d.Toolkit == "":
		return Support{Problem: &Problem{"the NVIDIA container toolkit is not installed",
			"run nvdocker-install for this host"}}
	case len(d.SpecDirs) > 0 && len(d.Specs) == 0:
		return Support{Problem: &Problem{"the NVIDIA container toolkit " + d.Toolkit +
			" is not set up: there is no CDI specification, and Docker knows no runtime nvidia",
			"run nvdocker-install for this host"}}
	}
	return Support{Problem: &Problem{"the NVIDIA container toolkit " + d.Toolkit + " is not " +
		"known to Docker", "run nvdocker-install for this host: Docker has to be restarted"}}
}

// Snap reports whether Docker is the one of Ubuntu's snap.
func (d Docker) Snap() bool { return strings.HasPrefix(d.Root, "/var/snap/") }

// Tells reports whether Docker lists the devices that it found: from 28.2 on.
func (d Docker) Tells() bool { return newer(d.Version, 28, 2) }

// Switch reports whether CDI is off in this Docker unless "features": {"cdi": true} turns it on:
// from 25 to 28.1. Before it has none, from 28.2 on it is on.
func (d Docker) Switch() bool { return newer(d.Version, 25, 0) && !newer(d.Version, 28, 2) }

// newer reports whether a version is at least MAJOR.MINOR; one that is no version is not.
func newer(version string, major, minor int) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	a, err1 := strconv.Atoi(parts[0])
	b, err2 := strconv.Atoi(parts[1])
	return err1 == nil && err2 == nil && (a > major || a == major && b >= minor)
}
