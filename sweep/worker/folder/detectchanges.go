package folder

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// check finds out what became of every item.
func (d *detacher) check() error {
	fd, err := openFolder(unix.AT_FDCWD, d.dir)
	if err != nil {
		return &os.PathError{Op: "open", Path: d.dir, Err: err}
	}
	defer unix.Close(fd)
	var s unix.Stat_t
	if d.inode != 0 { // what lies elsewhere is not this package's
		if err := retry(func() error { return unix.Fstat(fd, &s) }); err != nil ||
			s.Ino != d.inode {
			return &os.PathError{Op: "open", Path: d.dir, Err: cmp.Or(err, fs.ErrNotExist)}
		}
	}
	if _, err = d.checkFolder(fd, d.dir, 0, len(d.items), nil, false); err != nil {
		return err
	}
	d.canSwap = d.canSwap && d.isUntouched() && hasCopyMode(&s) && !hasAttributes(fd)
	return nil
}

// hasCopyMode reports whether a folder has the mode and the owner of a copy's own folder.
func hasCopyMode(s *unix.Stat_t) bool {
	return s.Mode&0o7777 == copyMode && int(s.Uid) == os.Geteuid() && int(s.Gid) == os.Getegid()
}

// checkFolder checks the items of one folder, and reports whether all of it is unchanged. recorded
// is the folder's own identity; nil if that is not significant. In quiet folders only subfolders
// are checked.
func (d *detacher) checkFolder(fd int, at string, from, end int, recorded *identity,
	quietly bool) (clean bool, err error) {
	clean = true
	sources := true // no program in it was changed
	var listed []entry
	if recorded == nil { // the top, which is listed in any case
		if listed, err = entriesIn(fd); err != nil {
			return false, &os.PathError{Op: "read", Path: at, Err: err}
		}
	}
	for i := from; i < end; i = d.items[i].end {
		if quietly && (d.items[i].method != methodDir || d.activity[i] == inactive) ||
			d.isInactive(i, listed) {
			d.states[i] = untouched
			continue
		}
		if err := d.checkItem(fd, i); err != nil {
			return false, err
		}
		if d.states[i] != untouched {
			clean = false
			sources = sources && path.Ext(d.items[i].name) != ".py"
		}
	}
	if quietly && clean {
		return true, nil
	}
	if recorded != nil {
		var s unix.Stat_t
		if err := retry(func() error { return unix.Fstat(fd, &s) }); err != nil {
			return false, &os.PathError{Op: "fstat", Path: at, Err: err}
		}
		now := identityOf(&s)
		if clean && now == *recorded && now.ctime < d.since {
			return true, nil
		}
		clean = clean && now.mode == recorded.mode && !hasAttributes(fd)
		defer func() {
			if clean { // it has a cache that it had not
				*recorded = now
			}
		}()
	}
	if recorded != nil {
		if listed, err = entriesIn(fd); err != nil {
			return false, &os.PathError{Op: "read", Path: at, Err: err}
		}
	}
	known := from
	for _, e := range listed {
		name := e.name
		for known < end && d.items[known].name < name {
			known = d.items[known].end
		}
		if known < end && d.items[known].name == name {
			continue
		}
		if recorded == nil {
			d.others = append(d.others, name)
		}
		if clean = clean && name == cacheName; name != cacheName && d.activity == nil {
			continue
		}
		cache := at + "/" + name
		info, err := lstat(cache)
		if name != cacheName || err != nil || !info.isDir() {
			clean = false
			if d.activity != nil && err == nil && (info.isDir() || info.links > 1) {
				return false, errFullCheck
			}
			continue
		}
		if !sources || d.remove {
			if err := removeAll(cache); err != nil {
				return false, err
			}
			continue
		}
		if kept, err := d.pruneCache(cache, from, end); err != nil {
			return false, err
		} else if !kept {
			continue
		}
		d.caches = append(d.caches, strings.TrimPrefix(cache, d.dir+"/"))
	}
	return clean, nil
}

// isInactive reports whether an item is a folder that is known to be unchanged, and exists
// according to the listing of its parent.
func (d *detacher) isInactive(i int, listed []entry) bool {
	if d.activity == nil || d.activity[i] != inactive || d.items[i].method != methodDir {
		return false
	}
	n, found := slices.BinarySearchFunc(listed, d.items[i].name,
		func(e entry, name string) int { return strings.Compare(e.name, name) })
	return found && listed[n].inode == d.ids[i].inode
}

// pruneCache keeps in a folder of compiled files those of unchanged modules beside it, and reports
// whether there are any. A file compiled from a module that a task wrote would affect the next
// task: Python would take it for another module of the same name, size and second.
func (d *detacher) pruneCache(cache string, from, end int) (kept bool, err error) {
	entries, err := os.ReadDir(cache)
	if err != nil {
		return false, removeAll(cache)
	}
	modules := map[string]bool{}
	for i := from; i < end; i = d.items[i].end {
		if module, is := strings.CutSuffix(d.items[i].name, ".py"); is && d.states[i] == untouched {
			modules[module] = true
		}
	}
	for _, e := range entries {
		module, rest, _ := strings.Cut(e.Name(), ".")
		if e.Type().IsRegular() && modules[module] && strings.HasSuffix(rest, "pyc") {
			kept = true
		} else if err := removeAll(cache + "/" + e.Name()); err != nil {
			return false, err
		}
	}
	if !kept {
		err = removeAll(cache)
	}
	return kept, err
}

// checkItem checks one item in an open folder.
func (d *detacher) checkItem(fd, i int) error {
	it := &d.items[i]
	var s unix.Stat_t
	err := retry(func() error { return unix.Fstatat(fd, it.name, &s, unix.AT_SYMLINK_NOFOLLOW) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &os.PathError{Op: "lstat", Path: d.dir + "/" + it.Path, Err: err}
	}
	now := identityOf(&s)
	at := d.dir + "/" + it.Path
	if it.method != methodDir {
		d.states[i] = d.checkLeaf(it, now, d.ids[i], at)
		return nil
	}
	if !now.isDir() {
		return nil
	}
	quietly := d.activity != nil && d.activity[i] != active
	switch {
	case quietly && now.inode != d.ids[i].inode:
		return errFullCheck // another took its place
	case quietly && d.activity[i] == inactive:
		d.states[i] = untouched
		return nil
	}
	if now.mode&0o700 != 0o700 { // the program shut it
		if err := os.Chmod(at, os.FileMode(now.mode&0o777)|0o700); err != nil {
			return err
		}
	}
	below, err := openFolder(fd, it.name)
	if err != nil {
		return &os.PathError{Op: "open", Path: at, Err: err}
	}
	defer unix.Close(below)
	clean, err := d.checkFolder(below, at, i+1, it.end, &d.ids[i], quietly)
	if d.states[i] = partial; clean {
		d.states[i] = untouched
	}
	return err
}

// checkLeaf returns what became of a file or link.
func (d *detacher) checkLeaf(it *item, now, recorded identity, at string) state {
	same := now == recorded
	switch {
	case same && now.ctime < d.since:
		return untouched
	case it.method == methodCopy && (!now.isFile() || now.size != it.Size ||
		now.executable() != it.Executable),
		it.method != methodCopy && !now.isLink(), !d.project.builder.matches(it, at):
		return absent
	case same:
		return untouched
	}
	return touched
}
