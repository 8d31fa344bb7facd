package folder

import (
	"context"
	"errors"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// made is an entry that was created in a task's folder.
type made struct {
	Path string   `json:"p"` // relative to the task's folder
	Dir  bool     `json:"d,omitempty"`
	ID   identity `json:"i,omitzero"` // zero for folders
}

// cacheName is the folder in which Python stores compiled versions of the modules beside it.
const cacheName = "__pycache__"

// removeUntouched removes the untouched entries from a task's folder, then empty folders, and the
// compiled versions of the project's modules. In all, a folder precedes its entries. If a program
// replaced a folder by a link, the link is not followed.
func removeUntouched(dir string, all []made) error {
	fd, err := openFolder(unix.AT_FDCWD, dir)
	if err == unix.EACCES && os.Chmod(dir, copyMode) == nil { // the program shut it
		fd, err = openFolder(unix.AT_FDCWD, dir)
	}
	if isReplaced(err) {
		return nil
	} else if err != nil {
		return &os.PathError{Op: "open", Path: dir, Err: err}
	}
	defer unix.Close(fd)
	return removeIn(fd, dir, "", all)
}

// isReplaced reports whether err means that a folder was removed or replaced.
func isReplaced(err error) bool {
	return err == unix.ENOENT || err == unix.ELOOP || err == unix.ENOTDIR
}

// removeIn is removeUntouched for the entries of one open folder.
func removeIn(fd int, dir, prefix string, all []made) error {
	python := false
	var failed error
	for len(all) > 0 {
		m := all[0]
		name := m.Path[len(prefix):]
		below := 0
		for all = all[1:]; below < len(all) && strings.HasPrefix(all[below].Path, m.Path+"/"); {
			below++
		}
		var err error
		if m.Dir {
			err = removeFolder(fd, dir, m.Path, name, all[:below])
		} else {
			err = removeFile(fd, name, m.ID)
			python = python || path.Ext(name) == ".py"
		}
		if err != nil && failed == nil {
			failed = &os.PathError{Op: "remove", Path: dir + "/" + m.Path, Err: err}
		}
		all = all[below:]
	}
	if python {
		failed = errors.Join(failed, removeAll(dir+"/"+prefix+cacheName))
	}
	return failed
}

// unlink removes an entry of an open folder, which the program may have made read-only.
func unlink(fd int, name string, flags int) error {
	remove := func() error { return unix.Unlinkat(fd, name, flags) }
	err := retry(remove)
	if err == unix.EACCES && unix.Fchmod(fd, copyMode) == nil {
		err = retry(remove)
	}
	return err
}

// removeFile removes an untouched entry of an open folder.
func removeFile(fd int, name string, id identity) error {
	var s unix.Stat_t
	err := retry(func() error { return unix.Fstatat(fd, name, &s, unix.AT_SYMLINK_NOFOLLOW) })
	if err == nil && id.same(identityOf(&s)) {
		err = unlink(fd, name, 0)
	}
	if err == unix.ENOENT {
		return nil
	}
	return err
}

// removeFolder removes the untouched entries of a folder in an open folder, and then the folder if
// it is empty.
func removeFolder(in int, dir, at, name string, all []made) error {
	fd, err := openFolder(in, name)
	if err == unix.EACCES { // the program changed its mode
		if err = unix.Fchmodat(in, name, copyMode, 0); err == nil {
			fd, err = openFolder(in, name)
		}
	}
	if isReplaced(err) {
		return nil
	} else if err != nil {
		return err
	}
	err = removeIn(fd, dir, at+"/", all)
	_ = unix.Close(fd) // it was only read
	if err != nil {
		return err
	}
	err = unlink(in, name, unix.AT_REMOVEDIR)
	if err == unix.ENOTEMPTY || err == unix.EEXIST || isReplaced(err) {
		return nil // it contains files of the task
	}
	return err
}

// openFolder opens a folder in an open folder. A link as the last element is not followed.
func openFolder(in int, name string) (fd int, err error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NOFOLLOW
	err = retry(func() error { fd, err = unix.Openat(in, name, flags, 0); return err })
	return fd, err
}

// removeAll removes a tree, including folders that a program has made inaccessible.
func removeAll(root string) error {
	err := os.RemoveAll(root)
	if !errors.Is(err, os.ErrPermission) {
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

// Remove removes a folder entry by entry, including folders that a program has made inaccessible.
// Between two entries it stops if ctx ends. Of a link, or anything else that is no folder, it
// removes that alone.
func Remove(ctx context.Context, dir string) error {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		if err = os.Remove(dir); errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err = errors.Join(err, removeAll(dir+"/"+e.Name()))
	}
	return errors.Join(err, removeAll(dir))
}
