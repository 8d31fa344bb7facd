//go:build !linux

package folder

import (
	"errors"

	"golang.org/x/sys/unix"
)

// clone is not supported on this system: files are copied.
func clone(int, int) error { return errors.ErrUnsupported }

// CanClone reports whether the file system of a folder can clone a file.
func CanClone(file, folder string) bool { return false }

func readOnly(string) bool { return false }

// appendEntries appends the entries of a directory buffer.
func appendEntries(entries []entry, list []byte) []entry {
	_, _, names := unix.ParseDirent(list, -1, nil)
	for _, name := range names {
		entries = append(entries, entry{name: name})
	}
	return entries
}

// exchangeFolders is not supported on this system: a copy is moved out of a task's folder.
func exchangeFolders(a, b string) error { return errors.ErrUnsupported }
