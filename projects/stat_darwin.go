package projects

import (
	"io/fs"
	"syscall"
)

// identify reads what tells a file's content from another's without reading it. ok is false where
// the system does not say.
func identify(info fs.FileInfo) (id identity, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}, false
	}
	return identity{
		Device: uint64(stat.Dev), Inode: stat.Ino, Links: uint64(stat.Nlink),
		Size: stat.Size, Modified: stat.Mtimespec.Nano(), Changed: stat.Ctimespec.Nano(),
	}, true
}
