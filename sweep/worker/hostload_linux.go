package worker

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"

	"mlframework/sweep/task"
)

// sample measures the load of the host.
func (m *loadMeter) sample() {
	root := os.DirFS("/")
	l := &task.Load{Cores: runtime.NumCPU()}
	stat, _ := fs.ReadFile(root, "proc/stat") // what cannot be read is not known, and stays 0
	cpu := parseCPU(stat)
	l.CPU = cpu.share(m.before)
	m.before = cpu
	l.MemoryTotal, l.MemoryFree = memory(root)
	l.DiskTotal, l.DiskFree = disk(m.outputs)
	m.now.Store(l)
}

// HostMemory returns how many bytes of memory tasks can use here; 0: that is not known.
func HostMemory() int64 {
	total, _ := memory(os.DirFS("/"))
	return total
}

// memory returns the memory that processes like this one can use: total, and still available.
func memory(root fs.FS) (total, free int64) {
	info, _ := fs.ReadFile(root, "proc/meminfo")
	total, free = parseMeminfo(info)
	own, _ := fs.ReadFile(root, "proc/self/cgroup")
	for _, g := range memoryCgroups(string(own)) {
		limit, left, ok := g.read(root)
		if ok && limit < total {
			total = limit
		}
		if ok && left < free {
			free = left
		}
	}
	return total, free
}

// parseCPU parses the first line of /proc/stat (proc_stat(5)): user nice system idle iowait irq
// softirq steal, and guest times, which are part of user's. Waiting for disks counts as idle, time
// taken by other virtual machines (steal) as busy.
func parseCPU(stat []byte) (t cpuTimes) {
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

// field returns the number after a name at the start of a line; 0 if there is none.
func field(text []byte, name string) int64 {
	for line := range bytes.Lines(text) {
		if f := bytes.Fields(line); len(f) > 1 && string(f[0]) == name {
			n, _ := strconv.ParseInt(string(f[1]), 10, 64)
			return n
		}
	}
	return 0
}

// memoryCgroup is the folder of a cgroup and the names of its files, which differ between v1 and
// v2.
type memoryCgroup struct{ folder, limit, used, cache string }

// memoryCgroups returns the cgroups whose limits apply to this process, given /proc/self/cgroup
// (cgroups(7)): its own and all above it. In a container the path in that file may be the host's;
// then only the root of the mount exists.
func memoryCgroups(own string) (all []memoryCgroup) {
	for line := range strings.Lines(own) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(f) < 3:
		case f[0] == "0" && f[1] == "":
			all = append(all, ancestors(f[2], memoryCgroup{"sys/fs/cgroup", "memory.max",
				"memory.current", "inactive_file"})...)
		case f[1] == "memory":
			all = append(all, ancestors(f[2], memoryCgroup{"sys/fs/cgroup/memory",
				"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"})...)
		}
	}
	return all
}

// ancestors returns a cgroup and those above it.
func ancestors(group string, mount memoryCgroup) (all []memoryCgroup) {
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		g := mount
		g.folder = path.Join(mount.folder, group)
		if all = append(all, g); group == "/" {
			return all
		}
	}
}

// read returns the limit of a cgroup in bytes, and what is left of it; the page cache counts as
// available. Ok is false if there is no limit ("max" in v2).
func (g memoryCgroup) read(root fs.FS) (limit, left int64, ok bool) {
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
