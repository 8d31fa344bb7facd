package process

import (
	"bytes"
	"strconv"
	"strings"
)

// parseOOMKills parses the counter oom_kill in memory.events (cgroup v2), memory.oom_control (v1)
// or /proc/vmstat: how many processes the kernel has killed for lack of memory, in the cgroup or on
// the whole host.
func parseOOMKills(file []byte) (n uint64, ok bool) {
	for line := range bytes.Lines(file) {
		if f := bytes.Fields(line); len(f) == 2 && string(f[0]) == "oom_kill" {
			n, err := strconv.ParseUint(string(f[1]), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// oomFiles returns the files that may have the counter, in order of preference, given
// /proc/self/cgroup (cgroups(7)). In a container the path in that file may be the host's; then the
// root of the mount is the container's own cgroup.
func oomFiles(cgroup string) (files []string) {
	var v1, v2 []string
	for line := range strings.Lines(cgroup) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(f) < 3:
		case f[0] == "0" && f[1] == "":
			v2 = cgroupFiles("/sys/fs/cgroup", f[2], "memory.events")
		case f[1] == "memory":
			v1 = cgroupFiles("/sys/fs/cgroup/memory", f[2], "memory.oom_control")
		}
	}
	return append(append(v1, v2...), "/proc/vmstat")
}

func cgroupFiles(mount, group, file string) []string {
	return []string{mount + strings.TrimSuffix(group, "/") + "/" + file, mount + "/" + file}
}
