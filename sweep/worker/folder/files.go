package folder

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// retry repeats f while it is interrupted by a signal.
func retry(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}

// rename is os.Rename without its check whether the new path is a folder: the kernel checks it.
func rename(from, to string) error {
	if err := retry(func() error { return unix.Rename(from, to) }); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

// openFolder opens a folder in an open folder. A link as the last element is not followed.
func openFolder(in int, name string) (fd int, err error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NOFOLLOW
	err = retry(func() error { fd, err = unix.Openat(in, name, flags, 0); return err })
	return fd, err
}

// entry is a name in a folder, and its inode according to the folder's listing.
type entry struct {
	name  string
	inode uint64
}

// entriesIn lists an open folder by name, the order of items.
func entriesIn(fd int) (entries []entry, err error) {
	var buffer [8 << 10]byte
	for {
		var n int
		err = retry(func() error { n, err = unix.ReadDirent(fd, buffer[:]); return err })
		if err != nil || n <= 0 {
			slices.SortFunc(entries,
				func(a, b entry) int { return strings.Compare(a.name, b.name) })
			return entries, err
		}
		entries = appendEntries(entries, buffer[:n])
	}
}

// removeAll removes a tree, including folders that a program has made inaccessible.
func removeAll(root string) error {
	err := os.RemoveAll(root)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	var open func(string)
	open = func(dir string) {
		_ = os.Chmod(dir, 0o700)
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if e.IsDir() {
				open(dir + "/" + e.Name())
			}
		}
	}
	open(root)
	return os.RemoveAll(root)
}
