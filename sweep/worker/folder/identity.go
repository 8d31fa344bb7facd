package folder

import (
	"os"

	"golang.org/x/sys/unix"
)

// identity is the file system's metadata of an entry. As long as it is the same, the entry is
// untouched: writing, replacing or renaming the entry, or changing its mode, changes one of these.
type identity struct {
	Inode        uint64
	Size         int64
	Mtime, Ctime int64 // nanoseconds since 1970; a Ctime of 0 is unknown
}

func identityOf(s *unix.Stat_t) identity {
	return identity{Inode: s.Ino, Size: s.Size, Mtime: s.Mtim.Nano(), Ctime: s.Ctim.Nano()}
}

// same reports whether an entry with the identity now is untouched.
func (id identity) same(now identity) bool {
	if id.Ctime == 0 {
		now.Ctime = 0
	}
	return id == now
}

// lstat returns the identity of a path without following links.
func lstat(path string) (id identity, err error) {
	var s unix.Stat_t
	if err := retry(func() error { return unix.Lstat(path, &s) }); err != nil {
		return id, &os.PathError{Op: "lstat", Path: path, Err: err}
	}
	return identityOf(&s), nil
}

// retry repeats f while it is interrupted by a signal.
func retry(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}

// rename is os.Rename, except that it also replaces an empty folder.
func rename(from, to string) error {
	if err := retry(func() error { return unix.Rename(from, to) }); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
