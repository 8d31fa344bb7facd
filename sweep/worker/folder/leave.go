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

// cacheName is the folder in which Python keeps what it compiled: never an output, and of use to the next task.
const cacheName = "__pycache__"

// Clocks of file systems go on in ticks: what was touched within one tick has one time.
const (
	tick       = 20 * time.Millisecond
	coarseTick = 2 * time.Second // of one whose times are whole seconds, or two
)

// state is what became of an item.
type state uint8

const (
	gone    state = iota // it is not there, or it is the task's now
	touched              // it has another time, and is what it was
	whole                // it was not touched, nor was anything below it
	mixed                // a folder that is there, not as it was
)

// quiet is what is known of a folder without a look at it.
type quiet uint8

const (
	loud  quiet = iota // something was touched in it
	still              // nothing was, but in a folder below it
	calm               // nothing was, nor below it
)

// leaver takes a copy out of a task's folder.
type leaver struct {
	*tree
	items  []item
	dir    string
	inode  uint64 // of the task's folder; 0: whichever lies there
	since  int64  // what was touched at this time or later is compared by content
	states []state
	caches []string // folders of compiled programs that go along with the copy
	remove bool     // nothing is kept of the copy: it is removed where it is
	quiet  []quiet  // of items that are folders; nil: every file is looked at
	renew  []int    // what of the copy is to be watched anew, as it is another than before
	others []string // what lies in the task's folder, at its top, beside the items
	swaps  bool     // the folder itself may become the copy's
}

// leave takes the copy out of a folder, of that inode, that a task had since a time: what was not touched goes back to the copy's own
// place. After a short attempt the folder may become the copy's own place, and the task gets another.
func (t *tree) leave(dir string, inode uint64, started int64, short bool) error {
	l := t.leaver(dir, started)
	l.inode, l.swaps, t.inode = inode, short && t.project.store.swaps, 0
	err := l.lookWhereTouched()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) { // somebody removed it, or put something in its place
		clear(l.states)
		l.caches, l.swaps = nil, false
	} else if err != nil {
		return err
	}
	if err := t.makeHome(); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if l.swaps {
		if done, err := l.swap(); done || err != nil {
			t.inode = inode
			return err
		}
	}
	err = l.move()
	t.project.store.watcher.renew(t, l.renew)
	return err
}

// errLook says that every file has to be looked at: a folder or link that is new may lead to any of them.
var errLook = errors.New("something new may be another name of a file")

// isWatched reports whether an item of a copy is one that the watcher watches.
func isWatched(it *item) bool { return it.how == makeDir || it.how == copyFile }

// lookEvery is how often every file of a copy is looked at, whatever is known of it: attempts that take longer pay for it
// without noticing.
const lookEvery = time.Second

// lookWhereTouched is look, but for what is known not to have been touched.
func (l *leaver) lookWhereTouched() error {
	touched, known := l.project.store.watcher.touched(l.tree)
	if now := time.Now(); !known || now.Sub(l.looked) > lookEvery {
		l.looked = now
		return l.look()
	}
	l.quiet = make([]quiet, len(l.items))
	for i := range l.quiet {
		l.quiet[i] = calm
	}
	for _, i := range touched {
		if l.items[i].how != makeDir { // the folder of a file is looked at
			i = l.items[i].in
		}
		if i < 0 {
			continue // as the top is, always
		}
		l.quiet[i] = loud
		for above := l.items[i].in; above >= 0; above = l.items[above].in {
			l.quiet[above] = min(l.quiet[above], still)
		}
	}
	err := l.look()
	if err == errLook {
		l.quiet, l.caches, l.others = nil, nil, nil
		clear(l.states)
		err = l.look()
	}
	return err
}

func (t *tree) leaver(dir string, started int64) *leaver {
	margin := tick
	if started%int64(time.Second) == 0 {
		margin = coarseTick
	}
	items := t.project.maker.plan.items
	l := &leaver{tree: t, items: items, dir: dir, since: started - int64(margin), states: make([]state, len(items))}
	if !t.project.store.inexact {
		l.since = math.MaxInt64
	}
	return l
}

// exactTimes reports whether a change right behind a look at a file shows in its time: so it is on Linux from 6.13, on most
// of its file systems.
func exactTimes(folder string) bool {
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

// look finds out what became of every item.
func (l *leaver) look() error {
	fd, err := openFolder(unix.AT_FDCWD, l.dir)
	if err != nil {
		return &os.PathError{Op: "open", Path: l.dir, Err: err}
	}
	defer unix.Close(fd)
	var s unix.Stat_t
	if l.inode != 0 { // what lies elsewhere is not this package's
		if err := retry(func() error { return unix.Fstat(fd, &s) }); err != nil || s.Ino != l.inode {
			return &os.PathError{Op: "open", Path: l.dir, Err: cmp.Or(err, fs.ErrNotExist)}
		}
	}
	if _, err = l.folder(fd, l.dir, 0, len(l.items), nil, false); err != nil {
		return err
	}
	l.swaps = l.swaps && l.isWhole() && isOwn(&s) && !hasAttributes(fd)
	return nil
}

// isOwn reports whether a folder has the mode and the owner that a copy's own place has.
func isOwn(s *unix.Stat_t) bool {
	return s.Mode&0o7777 == homeMode && int(s.Uid) == os.Geteuid() && int(s.Gid) == os.Getegid()
}

// folder looks at the items of one folder; recorded is its own identity, nil where that says nothing. It reports whether all
// of it is as it was. In a quiet one only folders are looked at.
func (l *leaver) folder(fd int, at string, from, end int, recorded *identity, quietly bool) (clean bool, err error) {
	clean = true
	sources := true // no program in it was changed
	var listed []entry
	if recorded == nil { // the top, which is listed in any case
		if listed, err = entriesIn(fd); err != nil {
			return false, &os.PathError{Op: "read", Path: at, Err: err}
		}
	}
	for i := from; i < end; i = l.items[i].end {
		if quietly && (l.items[i].how != makeDir || l.quiet[i] == calm) || l.isCalm(i, listed) {
			l.states[i] = whole
			continue
		}
		if err := l.item(fd, i); err != nil {
			return false, err
		}
		if l.states[i] != whole {
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
		now := identify(&s)
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
		if clean = clean && name == cacheName; name != cacheName && l.quiet == nil {
			continue
		}
		cache := at + "/" + name
		info, err := lstat(cache)
		if name != cacheName || err != nil || !info.isDir() {
			clean = false
			if l.quiet != nil && err == nil && (info.isDir() || info.links > 1) {
				return false, errLook
			}
			continue
		}
		if !sources || l.remove {
			if err := removeAll(cache); err != nil {
				return false, err
			}
			continue
		}
		if kept, err := l.prune(cache, from, end); err != nil {
			return false, err
		} else if !kept {
			continue
		}
		l.caches = append(l.caches, strings.TrimPrefix(cache, l.dir+"/"))
	}
	return clean, nil
}

// isCalm reports whether an item is a folder that is known to be as it was, and is there by the list of its own folder.
func (l *leaver) isCalm(i int, listed []entry) bool {
	if l.quiet == nil || l.quiet[i] != calm || l.items[i].how != makeDir {
		return false
	}
	n, found := slices.BinarySearchFunc(listed, l.items[i].name, func(e entry, name string) int { return strings.Compare(e.name, name) })
	return found && listed[n].inode == l.ids[i].inode
}

// prune leaves in a folder of compiled programs those of the items beside it, and reports whether there are any. What was
// compiled of a module that a task wrote would serve the next task, too: Python takes it for that of another module of the
// same name, size and second.
func (l *leaver) prune(cache string, from, end int) (kept bool, err error) {
	entries, err := os.ReadDir(cache)
	if err != nil {
		return false, removeAll(cache)
	}
	modules := map[string]bool{}
	for i := from; i < end; i = l.items[i].end {
		if module, is := strings.CutSuffix(l.items[i].name, ".py"); is && l.states[i] == whole {
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

// item looks at one item in an open folder.
func (l *leaver) item(fd, i int) error {
	it := &l.items[i]
	var s unix.Stat_t
	err := retry(func() error { return unix.Fstatat(fd, it.name, &s, unix.AT_SYMLINK_NOFOLLOW) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &os.PathError{Op: "lstat", Path: l.dir + "/" + it.Path, Err: err}
	}
	now := identify(&s)
	at := l.dir + "/" + it.Path
	if it.how != makeDir {
		l.states[i] = l.leaf(it, now, l.ids[i], at)
		return nil
	}
	if !now.isDir() {
		return nil
	}
	quietly := l.quiet != nil && l.quiet[i] != loud
	switch {
	case quietly && now.inode != l.ids[i].inode:
		return errLook // another took its place
	case quietly && l.quiet[i] == calm:
		l.states[i] = whole
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
	clean, err := l.folder(below, at, i+1, it.end, &l.ids[i], quietly)
	if l.states[i] = mixed; clean {
		l.states[i] = whole
	}
	return err
}

// leaf says what became of a file or link.
func (l *leaver) leaf(it *item, now, recorded identity, at string) state {
	same := now == recorded
	switch {
	case same && now.ctime < l.since:
		return whole
	case it.how == copyFile && (!now.isFile() || now.size != it.Size || now.executable() != it.Executable),
		it.how != copyFile && !now.isLink(), !l.project.maker.same(it, at):
		return gone
	case same:
		return whole
	}
	return touched
}

// openFolder opens a folder in an open one. A link at the end of the name is not followed.
func openFolder(in int, name string) (fd int, err error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NOFOLLOW
	err = retry(func() error { fd, err = unix.Openat(in, name, flags, 0); return err })
	return fd, err
}

// entry is a name in a folder, and the inode that it has by the folder's list.
type entry struct {
	name  string
	inode uint64
}

// entriesIn lists a folder that was opened for it, by name, as items are.
func entriesIn(fd int) (entries []entry, err error) {
	var buffer [8 << 10]byte
	for {
		var n int
		if err = retry(func() error { n, err = unix.ReadDirent(fd, buffer[:]); return err }); err != nil || n <= 0 {
			slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
			return entries, err
		}
		entries = appendEntries(entries, buffer[:n])
	}
}

// removeAll removes a tree, also one whose folders a program has shut.
func removeAll(root string) error {
	err := os.RemoveAll(root)
	if !errors.Is(err, fs.ErrPermission) {
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
