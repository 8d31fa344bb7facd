package folder

import (
	"bytes"
	"encoding/binary"
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

// appendEntries appends the entries of a getdents64(2) buffer, except . and ..
func appendEntries(entries []entry, list []byte) []entry {
	const inode, length, name = 0, 16, 19 // where they are in an entry
	for len(list) > name {
		size := int(binary.NativeEndian.Uint16(list[length:]))
		text, _, _ := bytes.Cut(list[name:size], []byte{0})
		if e := (entry{string(text), binary.NativeEndian.Uint64(list[inode:])}); e.name != "." &&
			e.name != ".." {
			entries = append(entries, e)
		}
		list = list[size:]
	}
	return entries
}

// exchangeFolders exchanges two folders atomically.
func exchangeFolders(a, b string) error {
	err := retry(func() error {
		return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	})
	if err != nil {
		return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
	}
	return nil
}
