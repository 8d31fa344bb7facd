package worker

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"

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

// disk is the size of the file system that a folder is on, or will be, and what programs could still write there.
func disk(folder string) (total, free int64) {
	var s unix.Statfs_t
	err := unix.Statfs(folder, &s)
	for errors.Is(err, unix.ENOENT) && folder != filepath.Dir(folder) {
		folder = filepath.Dir(folder)
		err = unix.Statfs(folder, &s)
	}
	return int64(s.Blocks) * s.Bsize, int64(s.Bavail) * s.Bsize
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
