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

// isUntouched reports whether nothing of the copy was touched, and swap takes fewer system calls
// than move: two for each file that the task made, instead of two for each entry at the copy's top.
func (l *detacher) isUntouched() bool {
	tops := 0
	for i := 0; i < len(l.items); i = l.items[i].end {
		if l.states[i] != untouched {
			return false
		}
		tops++
	}
	return len(l.others) < tops
}

// swap links what the task made into the copy's own, empty folder, exchanges the two folders, and
// removes the first links: the task's folder is complete at every moment. If that is impossible, as
// with folders, done is false and nothing has changed. After an error the copy must not be used
// again.
func (l *detacher) swap() (done bool, err error) {
	made := slices.DeleteFunc(l.others, func(name string) bool {
		return slices.Contains(l.caches,
			name)
	})
	for _, name := range made {
		if err = retry(func() error {
			return unix.Link(l.dir+"/"+name,
				l.path+"/"+name)
		}); err != nil {
			break
		}
	}
	if err == nil {
		err = exchangeFolders(l.dir, l.path)
	}
	done, err = err == nil, nil
	for _, name := range made {
		if failed := retry(func() error {
			return unix.Unlink(l.path + "/" +
				name)
		}); failed != unix.ENOENT {
			err = errors.Join(err, failed)
		}
	}
	return done, err
}

// move moves the copy to its own folder.
func (l *detacher) move() error {
	// of folders that move as a whole, too: then they are there already
	for _, c := range l.caches {
		if in := l.indexOf(path.Dir(c)); in >= 0 && l.within(in) {
			continue
		} else if err := l.moveCache(c); err != nil {
			return err
		}
	}
	return l.moveFolder(0, len(l.items))
}

// indexOf returns the index of a folder's item; -1 for the top.
func (l *detacher) indexOf(folder string) int {
	return slices.IndexFunc(l.items, func(it item) bool { return it.Path == folder })
}

// within reports whether an item, or a folder above it, moves as a whole.
func (l *detacher) within(i int) bool {
	for ; i >= 0; i = l.items[i].parent {
		if l.states[i] == untouched {
			return true
		}
	}
	return false
}

// moveCache moves a folder of compiled files. If that fails it is removed, as it can be made again.
func (l *detacher) moveCache(name string) error {
	if !l.remove {
		if err := os.MkdirAll(path.Dir(l.path+"/"+name), folderMode); err == nil &&
			os.Rename(l.dir+"/"+name, l.path+"/"+name) == nil {
			return nil
		}
	}
	return removeAll(l.dir + "/" + name)
}

// moveFolder moves the items of one folder.
func (l *detacher) moveFolder(from, end int) error {
	for i := from; i < end; i = l.items[i].end {
		var err error
		switch l.states[i] {
		case untouched:
			err = l.moveUntouched(i)
		case touched:
			l.markAbsent(i)
			err = os.Remove(l.dir + "/" + l.items[i].Path)
		case absent:
			l.markAbsent(i)
		case partial:
			err = l.movePartial(i)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (l *detacher) markAbsent(i int) {
	for n := i; n < l.items[i].end; n++ {
		l.present[n], l.incomplete = false, true
		if isWatched(&l.items[n]) {
			l.rewatch = append(l.rewatch, n)
		}
	}
}

func (l *detacher) moveUntouched(i int) (err error) {
	from, to := l.dir+"/"+l.items[i].Path, l.path+"/"+l.items[i].Path
	if !l.remove {
		if err = rename(from, to); err == nil {
			l.ids[i], err = lstat(to)
			return err
		}
	}
	l.markAbsent(i)
	return removeAll(from)
}

// movePartial moves the untouched part of a folder. The folder itself stays if the task has
// something in it.
func (l *detacher) movePartial(i int) error {
	it := &l.items[i]
	if l.remove {
		l.markAbsent(i)
	} else if err := os.Mkdir(l.path+"/"+it.Path, folderMode); err != nil &&
		!errors.Is(err, fs.ErrExist) {
		return err
	} else {
		l.unknownIDs, l.rewatch = append(l.unknownIDs, i), append(l.rewatch, i)
	}
	if err := l.moveFolder(i+1, it.end); err != nil {
		return err
	}
	if err := os.Remove(l.dir + "/" + it.Path); !errors.Is(err, unix.ENOTEMPTY) &&
		!errors.Is(err, unix.EEXIST) {
		return err
	}
	return nil
}

// hasAttributes reports whether an open folder has extended attributes or an access control list
// that a program set; a copy has none.
func hasAttributes(fd int) bool {
	var names [4 << 10]byte
	n, err := unix.Flistxattr(fd, names[:])
	if err != nil {
		return err == unix.ERANGE
	}
	return bytes.Contains(names[:n], []byte("user.")) ||
		bytes.Contains(names[:n], []byte("posix_acl"))
}
