package server

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"mlframework/infra/filesync"
)

// inode returns the inode of a name in a folder, or with "" of the opened file itself; zero where
// the system does not tell.
func inode(opened *os.File, name string, _ fs.FileInfo) filesync.Inode {
	flags := unix.AT_SYMLINK_NOFOLLOW
	if name == "" {
		flags = unix.AT_EMPTY_PATH
	}
	for {
		var s unix.Statx_t
		err := unix.Statx(int(opened.Fd()), name, flags, unix.STATX_INO|unix.STATX_BTIME, &s)
		switch err {
		case nil:
			return filesync.Inode{Number: s.Ino, Born: s.Btime.Sec*1e9 + int64(s.Btime.Nsec)}
		case unix.EINTR: // of Go's scheduler
		default:
			return filesync.Inode{}
		}
	}
}
