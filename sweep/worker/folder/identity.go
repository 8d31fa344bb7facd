package folder

import (
	"fmt"
	"os"
	"path"
	"path/filepath"

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

// list returns the entries of a snapshot. A file that is too large to copy may be a symbolic link
// out of the snapshot: it counts as a file.
func list(snapshot string) (entries []Entry, err error) {
	var walk func(string) error
	walk = func(folder string) error {
		items, err := os.ReadDir(filepath.Join(snapshot, folder))
		if err != nil {
			return err
		}
		for _, i := range items {
			at := path.Join(folder, i.Name())
			info, err := i.Info()
			if err != nil {
				return err
			}
			e := Entry{Path: at, ModTime: info.ModTime()}
			switch {
			case info.IsDir():
				e.Kind = Dir
			case info.Mode()&os.ModeSymlink != 0:
				e.Kind = Symlink
				if e.Target, err = os.Readlink(filepath.Join(snapshot, at)); err != nil {
					return err
				}
				if filepath.IsAbs(e.Target) {
					if info, err = os.Stat(e.Target); err != nil {
						return fmt.Errorf("%s of the project is a link to a file that is gone: %w",
							at, err)
					}
				}
			}
			if info.Mode().IsRegular() {
				e.Kind, e.Size, e.Executable, e.ModTime = File, info.Size(),
					info.Mode()&0o100 != 0, info.ModTime()
			}
			entries = append(entries, e)
			if e.Kind == Dir {
				if err := walk(at); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return entries, walk("")
}
