package docker

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// Info is what an engine says of itself and its host.
type Info struct {
	Version       string // of the engine: "20.10.24"
	API           string // the version that is spoken with it: "1.41"
	OS            string // "linux"
	Arch          string // as `uname -m` has it: "x86_64", "aarch64"
	System        string // "Debian GNU/Linux 12 (bookworm)"
	Kernel        string
	CgroupVersion string // "1" or "2"
	StorageDriver string
	Root          string // Docker's folder, whose disk images and volumes fill
	CPUs          int
	Memory        int64    // bytes
	Runtimes      []string // sorted
	Security      []string // "seccomp", "apparmor", "rootless", "userns", ...
	CDIDirs       []string // folders of device descriptions; none before Engine 25, or with the feature off
	CDIDevices    []string // "nvidia.com/gpu=0", ...; only from Engine 28.2 on
	Warnings      []string
}

// Rootless tells whether the engine runs as an ordinary user, in which case uids inside and outside differ.
func (i Info) Rootless() bool { return slices.Contains(i.Security, "rootless") }

// Info asks the engine for what it is.
func (e *Engine) Info(ctx context.Context) (Info, error) {
	raw, err := e.api.Info(ctx)
	if err != nil {
		return Info{}, e.fail("ask docker what it is", err)
	}
	i := Info{
		Version: raw.ServerVersion, API: e.api.ClientVersion(), OS: raw.OSType, Arch: raw.Architecture,
		System: raw.OperatingSystem, Kernel: raw.KernelVersion, CgroupVersion: raw.CgroupVersion, StorageDriver: raw.Driver,
		Root: raw.DockerRootDir, CPUs: raw.NCPU, Memory: raw.MemTotal, Runtimes: slices.Sorted(maps.Keys(raw.Runtimes)),
		CDIDirs: raw.CDISpecDirs, Warnings: raw.Warnings,
	}
	if i.CgroupVersion == "" {
		i.CgroupVersion = "1" // Engines before 20.10 know no other
	}
	for _, s := range raw.SecurityOptions { // "name=seccomp,profile=default"
		name, _, _ := strings.Cut(strings.TrimPrefix(s, "name="), ",")
		i.Security = append(i.Security, name)
	}
	for _, d := range raw.DiscoveredDevices {
		if d.Source == "cdi" {
			i.CDIDevices = append(i.CDIDevices, d.ID)
		}
	}
	return i, nil
}
