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
func (d *detacher) isUntouched() bool {
	tops := 0
	for i := 0; i < len(d.items); i = d.items[i].end {
		if d.states[i] != untouched {
			return false
		}
		tops++
	}
	return len(d.others) < tops
}

// swap links what the task made into the copy's own, empty folder, exchanges the two folders, and
// removes the first links: the task's folder is complete at every moment. If that is impossible, as
// with folders, done is false and nothing has changed. After an error the copy must not be used
// again.
func (d *detacher) swap() (done bool, err error) {
	made := slices.DeleteFunc(d.others,
		func(name string) bool { return slices.Contains(d.caches, name) })
	for _, name := range made {
		err = retry(func() error { return unix.Link(d.dir+"/"+name, d.path+"/"+name) })
		if err != nil {
			break
		}
	}
	if err == nil {
		err = exchangeFolders(d.dir, d.path)
	}
	done, err = err == nil, nil
	for _, name := range made {
		failed := retry(func() error { return unix.Unlink(d.path + "/" + name) })
		if failed != unix.ENOENT {
			err = errors.Join(err, failed)
		}
	}
	return done, err
}

// move moves the copy to its own folder.
func (d *detacher) move() error {
	// of folders that move as a whole, too: then they are there already
	for _, c := range d.caches {
		if in := d.indexOf(path.Dir(c)); in >= 0 && d.within(in) {
			continue
		} else if err := d.moveCache(c); err != nil {
			return err
		}
	}
	return d.moveFolder(0, len(d.items))
}

// indexOf returns the index of a folder's item; -1 for the top.
func (d *detacher) indexOf(folder string) int {
	return slices.IndexFunc(d.items, func(it item) bool { return it.Path == folder })
}

// within reports whether an item, or a folder above it, moves as a whole.
func (d *detacher) within(i int) bool {
	for ; i >= 0; i = d.items[i].parent {
		if d.states[i] == untouched {
			return true
		}
	}
	return false
}

// moveCache moves a folder of compiled files. If that fails it is removed, as it can be made again.
func (d *detacher) moveCache(name string) error {
	if !d.remove {
		if err := os.MkdirAll(path.Dir(d.path+"/"+name), folderMode); err == nil &&
			os.Rename(d.dir+"/"+name, d.path+"/"+name) == nil {
			return nil
		}
	}
	return removeAll(d.dir + "/" + name)
}

// moveFolder moves the items of one folder.
func (d *detacher) moveFolder(from, end int) error {
	for i := from; i < end; i = d.items[i].end {
		var err error
		switch d.states[i] {
		case untouched:
			err = d.moveUntouched(i)
		case touched:
			d.markAbsent(i)
			err = os.Remove(d.dir + "/" + d.items[i].Path)
		case absent:
			d.markAbsent(i)
		case partial:
			err = d.movePartial(i)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (d *detacher) markAbsent(i int) {
	for n := i; n < d.items[i].end; n++ {
		d.present[n], d.incomplete = false, true
		if isWatched(&d.items[n]) {
			d.rewatch = append(d.rewatch, n)
		}
	}
}

func (d *detacher) moveUntouched(i int) (err error) {
	from, to := d.dir+"/"+d.items[i].Path, d.path+"/"+d.items[i].Path
	if !d.remove {
		if err = rename(from, to); err == nil {
			d.ids[i], err = lstat(to)
			return err
		}
	}
	d.markAbsent(i)
	return removeAll(from)
}

// movePartial moves the untouched part of a folder. The folder itself stays if the task has
// something in it.
func (d *detacher) movePartial(i int) error {
	it := &d.items[i]
	if d.remove {
		d.markAbsent(i)
	} else if err := os.Mkdir(d.path+"/"+it.Path, folderMode); err != nil &&
		!errors.Is(err, fs.ErrExist) {
		return err
	} else {
		d.unknownIDs, d.rewatch = append(d.unknownIDs, i), append(d.rewatch, i)
	}
	if err := d.moveFolder(i+1, it.end); err != nil {
		return err
	}
	if err := os.Remove(d.dir + "/" + it.Path); !errors.Is(err, unix.ENOTEMPTY) &&
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
