//go:build !linux

package server

import (
	"io/fs"
	"os"
	"syscall"

	"mlframework/infra/filesync"
)

// inode returns the inode of a file, without the time when it was made. The far side runs on Linux.
func inode(_ *os.File, _ string, info fs.FileInfo) (i filesync.Inode) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		i.Number = s.Ino
	}
	return i
}
