package folder

import (
	"cmp"
	"errors"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cacheName is the folder of Python's compiled files: never an output, and useful to the next task.
const cacheName = "__pycache__"

// Clocks of file systems go on in ticks: what was touched within one tick has one time.
const (
	// File systems have clocks that advance in ticks: changes within a tick have the same time.
	tick = 20 * time.Millisecond
	// of file systems with a resolution of one or two seconds
	coarseTick = 2 * time.Second // of one whose times are whole seconds, or two
)

// state is what became of an item.
type state uint8

const (
	absent    state = iota // it is not there, or it is the task's now
	touched                // it has another time, and is what it was
	untouched              // it was not touched, nor was anything below it
	partial                // a folder that is there, not as it was
)

// activity is what is known about a folder without checking it.
type activity uint8

const (
	active      activity = iota // something was touched in it
	activeBelow                 // nothing was, but in a folder below it
	inactive                    // nothing was, nor below it
)

// detacher takes a copy out of a task's folder.
type detacher struct {
	*workCopy
	items []item
	dir   string
	// of the task's folder; 0: any
	inode uint64
	// changes at or after this time are detected by content
	since  int64
	states []state
	// folders of compiled files that go with the copy
	caches []string
	// the copy is removed in place rather than kept
	remove bool
	// of items that are folders; nil: every file is checked
	activity []activity
	// items of the copy whose watches have to be renewed
	rewatch []int
	// entries at the top of the task's folder other than items
	others []string
	// the task's folder itself may become the copy's
	canSwap bool
}

// detach takes the copy out of the folder dir, of that inode, which a task has used since started.
// What was not touched moves back to the copy's own folder. After a short attempt the two folders
// may be exchanged instead.
func (t *workCopy) detach(dir string, inode uint64, started int64, short bool) error {
	l := t.newDetacher(dir, started)
	l.inode, l.canSwap, t.inode = inode, short && t.project.store.canExchange, 0
	err := l.checkTouched()
	// it was removed or replaced
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ELOOP) ||
		errors.Is(err, unix.ENOTDIR) {
		clear(l.states)
		l.caches, l.canSwap = nil, false
	} else if err != nil {
		return err
	}
	if err := t.mkdir(); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if l.canSwap {
		if done, err := l.swap(); done || err != nil {
			t.inode = inode
			return err
		}
	}
	err = l.move()
	t.project.store.watcher.rewatch(t, l.rewatch)
	return err
}

// errFullCheck says that every file has to be checked: a new folder or link may lead to any of
// them.
var errFullCheck = errors.New("something new may be another name of a file")

// isWatched reports whether the watcher watches an item.
func isWatched(it *item) bool { return it.method == methodDir || it.method == methodCopy }

// fullCheckInterval is how often every file of a copy is checked, whatever is known about it:
// longer attempts do not notice the cost.
const fullCheckInterval = time.Second

// checkTouched is check, except for what is known to be untouched.
func (l *detacher) checkTouched() error {
	touched, known := l.project.store.watcher.touched(l.workCopy)
	if now := time.Now(); !known || now.Sub(l.verified) > fullCheckInterval {
		l.verified = now
		return l.check()
	}
	l.activity = make([]activity, len(l.items))
	for i := range l.activity {
		l.activity[i] = inactive
	}
	for _, i := range touched {
		if l.items[i].method != methodDir { // the folder of a file is looked at
			i = l.items[i].parent
		}
		if i < 0 {
			continue // as the top is, always
		}
		l.activity[i] = active
		for above := l.items[i].parent; above >= 0; above = l.items[above].parent {
			l.activity[above] = min(l.activity[above], activeBelow)
		}
	}
	err := l.check()
	if err == errFullCheck {
		l.activity, l.caches, l.others = nil, nil, nil
		clear(l.states)
		err = l.check()
	}
	return err
}

func (t *workCopy) newDetacher(dir string, started int64) *detacher {
	margin := tick
	if started%int64(time.Second) == 0 {
		margin = coarseTick
	}
	items := t.project.builder.plan.items
	l := &detacher{workCopy: t, items: items, dir: dir, since: started - int64(margin),
		states: make([]state, len(items))}
	if !t.project.store.coarseTimes {
		l.since = math.MaxInt64
	}
	return l
}

// hasExactTimes reports whether a change right behind a look at a file shows in its time: so it is
// on Linux from 6.13, on most of its file systems.
func hasExactTimes(folder string) bool {
	f, err := os.CreateTemp(folder, "times-")
	if err != nil {
		return false
	}
	defer f.Close()
	defer os.Remove(f.Name())
	var before, after unix.Stat_t
	for range 16 {
		err1 := unix.Fstat(int(f.Fd()), &before)
		_, err2 := f.Write([]byte{0})
		err3 := unix.Fstat(int(f.Fd()), &after)
		if errors.Join(err1, err2, err3) != nil || before.Ctim == after.Ctim {
			return false
		}
	}
	return true
}

// check finds out what became of every item.
func (l *detacher) check() error {
	fd, err := openFolder(unix.AT_FDCWD, l.dir)
	if err != nil {
		return &os.PathError{Op: "open", Path: l.dir, Err: err}
	}
	defer unix.Close(fd)
	var s unix.Stat_t
	if l.inode != 0 { // what lies elsewhere is not this package's
		if err := retry(func() error { return unix.Fstat(fd, &s) }); err != nil ||
			s.Ino != l.inode {
			return &os.PathError{Op: "open", Path: l.dir, Err: cmp.Or(err, fs.ErrNotExist)}
		}
	}
	if _, err = l.checkFolder(fd, l.dir, 0, len(l.items), nil, false); err != nil {
		return err
	}
	l.canSwap = l.canSwap && l.isUntouched() && hasCopyMode(&s) && !hasAttributes(fd)
	return nil
}

// hasCopyMode reports whether a folder has the mode and the owner of a copy's own folder.
func hasCopyMode(s *unix.Stat_t) bool {
	return s.Mode&0o7777 == copyMode && int(s.Uid) == os.Geteuid() && int(s.Gid) == os.Getegid()
}

// checkFolder checks the items of one folder, and reports whether all of it is unchanged. recorded
// is the folder's own identity; nil if that is not significant. In quiet folders only subfolders
// are checked.
func (l *detacher) checkFolder(fd int, at string, from, end int, recorded *identity,
	quietly bool) (clean bool, err error) {
	clean = true
	sources := true // no program in it was changed
	var listed []entry
	if recorded == nil { // the top, which is listed in any case
		if listed, err = entriesIn(fd); err != nil {
			return false, &os.PathError{Op: "read", Path: at, Err: err}
		}
	}
	for i := from; i < end; i = l.items[i].end {
		if quietly && (l.items[i].method != methodDir || l.activity[i] == inactive) ||
			l.isInactive(i, listed) {
			l.states[i] = untouched
			continue
		}
		if err := l.checkItem(fd, i); err != nil {
			return false, err
		}
		if l.states[i] != untouched {
			clean = false
			sources = sources && path.Ext(l.items[i].name) != ".py"
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
		if clean && now == *recorded && now.ctime < l.since {
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
		for known < end && l.items[known].name < name {
			known = l.items[known].end
		}
		if known < end && l.items[known].name == name {
			continue
		}
		if recorded == nil {
			l.others = append(l.others, name)
		}
		if clean = clean && name == cacheName; name != cacheName && l.activity == nil {
			continue
		}
		cache := at + "/" + name
		info, err := lstat(cache)
		if name != cacheName || err != nil || !info.isDir() {
			clean = false
			if l.activity != nil && err == nil && (info.isDir() || info.links > 1) {
				return false, errFullCheck
			}
			continue
		}
		if !sources || l.remove {
			if err := removeAll(cache); err != nil {
				return false, err
			}
			continue
		}
		if kept, err := l.pruneCache(cache, from, end); err != nil {
			return false, err
		} else if !kept {
			continue
		}
		l.caches = append(l.caches, strings.TrimPrefix(cache, l.dir+"/"))
	}
	return clean, nil
}

// isInactive reports whether an item is a folder that is known to be unchanged, and exists
// according to the listing of its parent.
func (l *detacher) isInactive(i int, listed []entry) bool {
	if l.activity == nil || l.activity[i] != inactive || l.items[i].method != methodDir {
		return false
	}
	n, found := slices.BinarySearchFunc(listed, l.items[i].name,
		func(e entry, name string) int { return strings.Compare(e.name, name) })
	return found && listed[n].inode == l.ids[i].inode
}

// pruneCache keeps in a folder of compiled files those of unchanged modules beside it, and reports
// whether there are any. A file compiled from a module that a task wrote would affect the next
// task: Python would take it for another module of the same name, size and second.
func (l *detacher) pruneCache(cache string, from, end int) (kept bool, err error) {
	entries, err := os.ReadDir(cache)
	if err != nil {
		return false, removeAll(cache)
	}
	modules := map[string]bool{}
	for i := from; i < end; i = l.items[i].end {
		if module, is := strings.CutSuffix(l.items[i].name, ".py"); is && l.states[i] == untouched {
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
func (l *detacher) checkItem(fd, i int) error {
	it := &l.items[i]
	var s unix.Stat_t
	err := retry(func() error { return unix.Fstatat(fd, it.name, &s, unix.AT_SYMLINK_NOFOLLOW) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &os.PathError{Op: "lstat", Path: l.dir + "/" + it.Path, Err: err}
	}
	now := identityOf(&s)
	at := l.dir + "/" + it.Path
	if it.method != methodDir {
		l.states[i] = l.checkLeaf(it, now, l.ids[i], at)
		return nil
	}
	if !now.isDir() {
		return nil
	}
	quietly := l.activity != nil && l.activity[i] != active
	switch {
	case quietly && now.inode != l.ids[i].inode:
		return errFullCheck // another took its place
	case quietly && l.activity[i] == inactive:
		l.states[i] = untouched
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
	clean, err := l.checkFolder(below, at, i+1, it.end, &l.ids[i], quietly)
	if l.states[i] = partial; clean {
		l.states[i] = untouched
	}
	return err
}

// checkLeaf returns what became of a file or link.
func (l *detacher) checkLeaf(it *item, now, recorded identity, at string) state {
	same := now == recorded
	switch {
	case same && now.ctime < l.since:
		return untouched
	case it.method == methodCopy && (!now.isFile() || now.size != it.Size ||
		now.executable() != it.Executable),
		it.method != methodCopy && !now.isLink(), !l.project.builder.matches(it, at):
		return absent
	case same:
		return untouched
	}
	return touched
}
