package worker

import (
	"io/fs"
	"os"
	"runtime"

	"mlframework/sweep/task"
)

// measure looks at the host.
func (m *meter) measure() {
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

// memory is what programs of this process can have of the host: total, and what they could still get.
func memory(root fs.FS) (total, free int64) {
	info, _ := fs.ReadFile(root, "proc/meminfo")
	total, free = parseMeminfo(info)
	own, _ := fs.ReadFile(root, "proc/self/cgroup")
	for _, g := range memoryGroups(string(own)) {
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
