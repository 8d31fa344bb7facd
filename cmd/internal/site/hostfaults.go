package site

import (
	"slices"

	"mlframework/infra"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
)

// host finds what is wrong with a host: that it is away, its disk, its containers.
func (f *faults) host(h infra.HostStatus) {
	switch {
	case h.Outputs:
		return
	case h.Leaves && h.Problem != "":
		f.add(h.Name,
			"when it is back, infrainit -f removes its container; if it never comes back: "+
				"infrainit -f --skip-bad",
			"it is to leave the cluster, and is off or cannot be asked: %s", h.Problem)
		f.stopped[h.Name] = !h.Reached
		return
	case h.Leaves:
		f.add(h.Name, "infrainit -f removes its container",
			"it is to leave the cluster, and is back")
		return
	case h.Problem != "":
		f.add(h.Name, h.Remedy, "%s", h.Problem)
		f.stopped[h.Name] = !h.Reached
		return
	}
	if h.Free < plan.LeastDisk {
		f.add(h.Name, "free some space on that disk", "its disk is full: %d MB are free for %s",
			h.Free>>20, h.Root)
	}
	for _, role := range h.Wanted {
		i := slices.IndexFunc(h.Containers, func(c infra.ContainerStatus) bool {
			return c.Role == role
		})
		f.stopped[h.Name+"/"+role] = i < 0 || !h.Containers[i].Running ||
			h.Containers[i].State == "paused"
		if i < 0 {
			f.add(h.Name, "infrainit -f starts one", "there is no container of the %s", role)
			continue
		}
		c := h.Containers[i]
		switch {
		case !c.Running:
			f.add(h.Name, "check-status --logs "+logsOf(h.Name,
				role)+" shows why; infrainit -f starts it", "the %s is %s, exit code %d", role,
				c.State, c.Exit)
		case c.State == "paused":
			f.add(h.Name, "docker unpause "+c.Name+" there", "the %s is paused", role)
		case c.Other:
			f.add(h.Name, "infrainit -f starts it with the cluster's",
				"the %s runs another %s (%s) than the cluster has", role, c.Image,
				layout.ShortDigest(c.Digest))
		}
	}
}

// logsOf is what --logs takes for a container.
func logsOf(host, role string) string {
	if role == plan.Worker {
		return host
	}
	return role
}
