package folder

import (
	"os"

	"golang.org/x/sys/unix"
)

// identity is the file system's metadata of an entry: as long as it is the same, the entry is
// untouched.
type identity struct {
	inode        uint64
	size         int64
	mtime, ctime int64 // nanoseconds since 1970
	mode         uint32
	links        uint32
}

func identityOf(s *unix.Stat_t) identity {
	return identity{inode: s.Ino, size: s.Size, mtime: s.Mtim.Nano(), ctime: s.Ctim.Nano(),
		mode: uint32(s.Mode), links: uint32(s.Nlink)}
}

func (id identity) isDir() bool      { return id.mode&unix.S_IFMT == unix.S_IFDIR }
func (id identity) isFile() bool     { return id.mode&unix.S_IFMT == unix.S_IFREG }
func (id identity) executable() bool { return id.mode&0o100 != 0 }
func (id identity) isLink() bool     { return id.mode&unix.S_IFMT == unix.S_IFLNK }

// lstat returns the identity of a path without following links.
func lstat(path string) (id identity, err error) {
	var s unix.Stat_t
	if err := retry(func() error { return unix.Lstat(path, &s) }); err != nil {
		return id, &os.PathError{Op: "lstat", Path: path, Err: err}
	}
	return identityOf(&s), nil
}
