package worker

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"mlframework/sweep/task"
)

// openLog opens the output file that a Control asks for. Programs may have put anything into their folders: no link is
// followed below the folder of outputs, and no pipe is waited for.
func openLog(outputs string, c task.Control) (*os.File, error) {
	if err := checkName(c.Sweep); err != nil {
		return nil, err
	}
	if c.Index < 0 || c.Attempt < 0 {
		return nil, fmt.Errorf("there is no attempt %d of task %d", c.Attempt, c.Index)
	}
	folder, err := openFolder(outputs, c.Sweep, strconv.FormatInt(c.Index, 10))
	if err != nil {
		return nil, err
	}
	defer unix.Close(folder)
	stream := "stdout"
	if c.Read.Stderr {
		stream = "stderr"
	}
	name := LogName(stream, c.Attempt, func(name string) bool {
		var s unix.Stat_t
		return unix.Fstatat(folder, name, &s, unix.AT_SYMLINK_NOFOLLOW) == nil
	})
	fd, err := openAt(folder, name, unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

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

// openAt opens an entry of a folder to read it. A link as the last of its names is refused, but where the way begins.
func openAt(folder int, name string, flags int) (int, error) {
	if folder != unix.AT_FDCWD {
		flags |= unix.O_NOFOLLOW
	}
	for {
		fd, err := unix.Openat(folder, name, unix.O_RDONLY|unix.O_CLOEXEC|flags, 0)
		switch {
		case err == nil:
			return fd, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ELOOP):
			return -1, fmt.Errorf("%s is a link, which is not followed: %w", name, err)
		default:
			return -1, &os.PathError{Op: "open", Path: name, Err: err}
		}
	}
}
