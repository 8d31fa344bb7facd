package folder

import (
	"os"

	"golang.org/x/sys/unix"
)

// clone makes an empty file share the content of another one, if the file system supports it.
func clone(to, from int) error { return unix.IoctlFileClone(to, from) }

// CanClone reports whether the file system of a folder can clone a file. It leaves nothing behind.
func CanClone(file, folder string) bool {
	from, err := os.Open(file)
	if err != nil {
		return false
	}
	defer from.Close()
	fd, err := unix.Open(folder, unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return clone(fd, int(from.Fd())) == nil
}

// readOnly reports whether a path is on a file system that is mounted read-only.
func readOnly(path string) bool {
	var s unix.Statfs_t
	return retry(func() error { return unix.Statfs(path, &s) }) == nil &&
		s.Flags&unix.ST_RDONLY != 0
}
