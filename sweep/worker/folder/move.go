package folder

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"

	"golang.org/x/sys/unix"
)

// isWhole reports whether nothing of the copy was touched, and swap takes fewer calls of the system than move: two for each thing
// that the task made, instead of two for each at the copy's top.
func (l *leaver) isWhole() bool {
	tops := 0
	for i := 0; i < len(l.items); i = l.items[i].end {
		if l.states[i] != whole {
			return false
		}
		tops++
	}
	return len(l.others) < tops
}

// swap gives what the task made a second name in the copy's own place, which is empty, lets that and the task's folder change
// places, and takes the first names away: at every moment the task's folder has all of it. It is false, and everything is as it was,
// where that cannot be, as with folders. After an error the copy must not be used again.
func (l *leaver) swap() (done bool, err error) {
	made := slices.DeleteFunc(l.others, func(name string) bool { return slices.Contains(l.caches, name) })
	for _, name := range made {
		if err = retry(func() error { return unix.Link(l.dir+"/"+name, l.path+"/"+name) }); err != nil {
			break
		}
	}
	if err == nil {
		err = exchange(l.dir, l.path)
	}
	done, err = err == nil, nil
	for _, name := range made {
		if failed := retry(func() error { return unix.Unlink(l.path + "/" + name) }); failed != unix.ENOENT {
			err = errors.Join(err, failed)
		}
	}
	return done, err
}

// move brings the copy to its own place.
func (l *leaver) move() error {
	for _, c := range l.caches { // of folders that move as a whole, too: then they are there already
		if in := l.find(path.Dir(c)); in >= 0 && l.within(in) {
			continue
		} else if err := l.cache(c); err != nil {
			return err
		}
	}
	return l.moveFolder(0, len(l.items))
}

// find is the index of a folder's item; -1 for the top.
func (l *leaver) find(folder string) int {
	return slices.IndexFunc(l.items, func(it item) bool { return it.Path == folder })
}

// within reports whether an item, or a folder above it, moves as a whole.
func (l *leaver) within(i int) bool {
	for ; i >= 0; i = l.items[i].in {
		if l.states[i] == whole {
			return true
		}
	}
	return false
}

// cache moves a folder of compiled programs. Where that cannot be it is removed: it can be made again.
func (l *leaver) cache(name string) error {
	if !l.remove {
		if err := os.MkdirAll(path.Dir(l.path+"/"+name), folderMode); err == nil && os.Rename(l.dir+"/"+name, l.path+"/"+name) == nil {
			return nil
		}
	}
	return removeAll(l.dir + "/" + name)
}

// moveFolder moves the items of one folder.
func (l *leaver) moveFolder(from, end int) error {
	for i := from; i < end; i = l.items[i].end {
		var err error
		switch l.states[i] {
		case whole:
			err = l.moveWhole(i)
		case touched:
			l.forget(i)
			err = os.Remove(l.dir + "/" + l.items[i].Path)
		case gone:
			l.forget(i)
		case mixed:
			err = l.moveMixed(i)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (l *leaver) forget(i int) {
	for n := i; n < l.items[i].end; n++ {
		l.have[n], l.missing = false, true
		if isWatched(&l.items[n]) {
			l.renew = append(l.renew, n)
		}
	}
}

func (l *leaver) moveWhole(i int) (err error) {
	from, to := l.dir+"/"+l.items[i].Path, l.path+"/"+l.items[i].Path
	if !l.remove {
		if err = rename(from, to); err == nil {
			l.ids[i], err = lstat(to)
			return err
		}
	}
	l.forget(i)
	return removeAll(from)
}

// moveMixed moves what of a folder was not touched. The folder itself stays if the task has something in it.
func (l *leaver) moveMixed(i int) error {
	it := &l.items[i]
	if l.remove {
		l.forget(i)
	} else if err := os.Mkdir(l.path+"/"+it.Path, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	} else {
		l.stale, l.renew = append(l.stale, i), append(l.renew, i)
	}
	if err := l.moveFolder(i+1, it.end); err != nil {
		return err
	}
	if err := os.Remove(l.dir + "/" + it.Path); !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, unix.EEXIST) {
		return err
	}
	return nil
}

// hasAttributes reports whether an open folder has extended attributes that a program gave it, or a list of who may use it: a
// copy has none.
func hasAttributes(fd int) bool {
	var names [4 << 10]byte
	n, err := unix.Flistxattr(fd, names[:])
	if err != nil {
		return err == unix.ERANGE
	}
	return bytes.Contains(names[:n], []byte("user.")) || bytes.Contains(names[:n], []byte("posix_acl"))
}
