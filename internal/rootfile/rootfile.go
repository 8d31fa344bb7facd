// Package rootfile opens files of an os.Root that are no links. A root's OpenFile follows links
// that stay in the root, also with O_NOFOLLOW, which it sets itself to notice them.
package rootfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ErrNotRegular is wrapped by the errors for names of what is no regular file, such as links.
var ErrNotRegular = errors.New("not a regular file")

// Open opens a regular file. The last element of its name is not followed if it is a link; those
// before are, within the root. flag and perm are those of os.OpenFile; O_TRUNC is not allowed, as
// the file is looked at after it was opened. Errors are *fs.PathError.
func Open(root *os.Root, name string, flag int, perm fs.FileMode) (*os.File, error) {
	if flag&os.O_TRUNC != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if flag&os.O_CREATE != 0 {
		f, err := root.OpenFile(name, flag|os.O_EXCL, perm) // follows no link
		if flag&os.O_EXCL != 0 || !errors.Is(err, fs.ErrExist) {
			return f, err
		}
		flag &^= os.O_CREATE
	}
	named, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	notRegular := &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	if !named.Mode().IsRegular() {
		return nil, notRegular
	}
	// Without O_NONBLOCK a named pipe that took its place could block.
	f, err := root.OpenFile(name, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(named, opened) {
		err = notRegular // what took its place may be a link
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
