package docker

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// Info is what an engine says of itself and its host.
type Info struct {
	ID            string   // the engine's own; "" where it tells none
	Version       string   // of the engine: "20.10.24"
	CgroupVersion string   // "1" or "2"
	Security      []string // "seccomp", "apparmor", "rootless", "userns", ...
	Root          string   // folder of its data: "/var/lib/docker"
	Runtimes      []string // "runc", "nvidia", ..., sorted
	// where it looks for CDI specifications; none: that is turned off, or it is older than 25
	CDISpecDirs []string
	CDIDevices  []string // "nvidia.com/gpu=0", ...; only from Engine 28.2 on
}

// Rootless tells whether the engine runs as an ordinary user, in which case uids inside and outside
// differ.
func (i Info) Rootless() bool { return slices.Contains(i.Security, "rootless") }

// Info asks the engine for what it is.
func (e *Engine) Info(ctx context.Context) (Info, error) {
	raw, err := e.api.Info(ctx)
	if err != nil {
		return Info{}, e.fail("ask docker what it is", err)
	}
	i := Info{ID: raw.ID, Version: raw.ServerVersion, CgroupVersion: raw.CgroupVersion,
		Root: raw.DockerRootDir, Runtimes: slices.Sorted(maps.Keys(raw.Runtimes)),
		CDISpecDirs: raw.CDISpecDirs}
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
