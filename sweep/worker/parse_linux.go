package worker

import (
	"bytes"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// parseCPU reads the first line of /proc/stat (proc_stat(5)): user nice system idle iowait irq softirq steal, and guest
// times, which are part of user's. Waiting for disks is idle; what other machines took of the processor (steal) is busy.
func parseCPU(stat []byte) (t cpuTime) {
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	fields := strings.Fields(string(line))
	if len(fields) < 5 || fields[0] != "cpu" {
		return t
	}
	for i, f := range fields[1:min(len(fields), 9)] {
		n, _ := strconv.ParseUint(f, 10, 64)
		t.all += n
		if i != 3 && i != 4 {
			t.busy += n
		}
	}
	return t
}

// parseMeminfo reads /proc/meminfo (proc_meminfo(5)), in bytes.
func parseMeminfo(info []byte) (total, free int64) {
	return field(info, "MemTotal:") << 10, field(info, "MemAvailable:") << 10
}

// field is the number behind a name at the start of a line; 0 where it is not.
func field(text []byte, name string) int64 {
	for line := range bytes.Lines(text) {
		if f := bytes.Fields(line); len(f) > 1 && string(f[0]) == name {
			n, _ := strconv.ParseInt(string(f[1]), 10, 64)
			return n
		}
	}
	return 0
}

// memoryGroup is the folder of a control group and the names of its files, which differ between cgroup v1 and v2.
type memoryGroup struct{ folder, limit, used, cache string }

// memoryGroups lists the groups whose limits this process is under, given /proc/self/cgroup (cgroups(7)): its own and all
// above it. In a container the path in there may be the host's; then only the root of the mount is there.
func memoryGroups(own string) (all []memoryGroup) {
	for line := range strings.Lines(own) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(f) < 3:
		case f[0] == "0" && f[1] == "":
			all = append(all, above(f[2], memoryGroup{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"})...)
		case f[1] == "memory":
			all = append(all, above(f[2], memoryGroup{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"})...)
		}
	}
	return all
}

// above lists a group and those above it.
func above(group string, mount memoryGroup) (all []memoryGroup) {
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		g := mount
		g.folder = path.Join(mount.folder, group)
		if all = append(all, g); group == "/" {
			return all
		}
	}
}

// read returns the limit of a group in bytes, and what is left of it: files that were only read are given up first. It
// is false where there is no limit ("max" in v2).
func (g memoryGroup) read(root fs.FS) (limit, left int64, ok bool) {
	limit, ok = number(root, path.Join(g.folder, g.limit))
	used, known := number(root, path.Join(g.folder, g.used))
	stat, _ := fs.ReadFile(root, path.Join(g.folder, "memory.stat"))
	return limit, max(0, limit-used+min(used, field(stat, g.cache))), ok && known
}

func number(root fs.FS, file string) (int64, bool) {
	text, err := fs.ReadFile(root, file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
