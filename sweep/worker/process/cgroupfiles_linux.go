package process

import (
	"path/filepath"
	"strings"
)

// unifiedPath returns the path of the cgroup in the hierarchy of version 2, given /proc/PID/cgroup;
// "" if there is none.
func unifiedPath(file string) string {
	for line := range strings.Lines(file) {
		if path, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); is {
			return path
		}
	}
	return ""
}

// cgroupMount is a place where a part of that hierarchy, the cgroups below root, is mounted.
type cgroupMount struct{ root, point string }

// cgroupMounts returns those of /proc/self/mountinfo (proc_pid_mountinfo(5)) whose names need no
// escapes.
func cgroupMounts(mountinfo string) (mounts []cgroupMount) {
	for line := range strings.Lines(mountinfo) {
		mount, source, _ := strings.Cut(line, " - ")
		f := strings.Fields(mount)
		if strings.HasPrefix(source, "cgroup2 ") && len(f) > 4 &&
			!strings.Contains(f[3]+f[4], `\`) {
			mounts = append(mounts, cgroupMount{root: f[3], point: f[4]})
		}
	}
	return mounts
}

// folder returns where the mount shows a cgroup, and whether it does.
func (m cgroupMount) folder(path string) (dir string, ok bool) {
	if path == "" || !isWithin(path, strings.TrimSuffix(m.root, "/")) {
		return "", false
	}
	return filepath.Join(m.point, strings.TrimPrefix(path, m.root)), true
}
