package worker

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openFolder goes from a folder down to one within it, by name.
func openFolder(base string, names ...string) (int, error) {
	at, err := openAt(unix.AT_FDCWD, base, unix.O_DIRECTORY)
	for _, name := range names {
		if err != nil {
			return -1, err
		}
		above := at
		at, err = openAt(above, name, unix.O_DIRECTORY)
		unix.Close(above)
	}
	return at, err
}

// isFolder reports whether an open folder is still the one at a path. When a short attempt ends
// another takes its place, and the open one becomes that of another task.
func isFolder(open int, base string, names ...string) bool {
	now, err := openFolder(base, names...)
	if err != nil {
		return false
	}
	defer unix.Close(now)
	var a, b unix.Stat_t
	return unix.Fstat(open, &a) == nil && unix.Fstat(now, &b) == nil && a.Dev == b.Dev &&
		a.Ino == b.Ino
}

// openAt opens an entry of a folder to read it. A link as the last of its names is refused, but
// where the way begins.
func openAt(folder int, name string, flags int) (int, error) {
	if folder != unix.AT_FDCWD {
		flags |= unix.O_NOFOLLOW
	}
	fd, err := openFD(folder, name, unix.O_RDONLY|flags, 0)
	if errors.Is(err, unix.ELOOP) {
		return -1, fmt.Errorf("%s is a link, which is not followed: %w", name, unix.ELOOP)
	}
	return fd, err
}

// openFD opens an entry of a folder. Every attempt opens some files, and an os.File makes more
// system calls.
func openFD(folder int, name string, flags int, mode uint32) (int, error) {
	for {
		fd, err := unix.Openat(folder, name, unix.O_CLOEXEC|flags, mode)
		if err == nil {
			return fd, nil
		}
		if err != unix.EINTR {
			return -1, &os.PathError{Op: "open", Path: name, Err: err}
		}
	}
}

// namesIn returns the names in an open folder.
func namesIn(folder int) ([]string, error) {
	fd, err := openAt(folder, ".", unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	d := os.NewFile(uintptr(fd), ".")
	defer d.Close()
	return d.Readdirnames(-1)
}
