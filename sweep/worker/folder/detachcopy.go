package folder

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// cacheName is the folder of Python's compiled files: never an output, and useful to the next task.
const cacheName = "__pycache__"

// The clocks of file systems advance in ticks: changes within a tick have the same time.
const (
	tick = 20 * time.Millisecond
	// of file systems with a resolution of one or two seconds
	coarseTick = 2 * time.Second
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
	*projectCopy
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
func (c *projectCopy) detach(dir string, inode uint64, started int64, short bool) error {
	l := c.newDetacher(dir, started)
	l.inode, l.canSwap, c.inode = inode, short && c.project.store.canExchange, 0
	err := l.checkTouched()
	// it was removed or replaced
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ELOOP) ||
		errors.Is(err, unix.ENOTDIR) {
		clear(l.states)
		l.caches, l.canSwap = nil, false
	} else if err != nil {
		return err
	}
	if err := c.mkdir(); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if l.canSwap {
		if done, err := l.swap(); done || err != nil {
			c.inode = inode
			return err
		}
	}
	err = l.move()
	c.project.store.watcher.rewatch(c, l.rewatch)
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
func (d *detacher) checkTouched() error {
	touched, known := d.project.store.watcher.touched(d.projectCopy)
	if now := time.Now(); !known || now.Sub(d.verified) > fullCheckInterval {
		d.verified = now
		return d.check()
	}
	d.activity = make([]activity, len(d.items))
	for i := range d.activity {
		d.activity[i] = inactive
	}
	for _, i := range touched {
		if d.items[i].method != methodDir { // the folder of a file is checked
			i = d.items[i].parent
		}
		if i < 0 {
			continue // the top is always checked
		}
		d.activity[i] = active
		for above := d.items[i].parent; above >= 0; above = d.items[above].parent {
			d.activity[above] = min(d.activity[above], activeBelow)
		}
	}
	err := d.check()
	if err == errFullCheck {
		d.activity, d.caches, d.others = nil, nil, nil
		clear(d.states)
		err = d.check()
	}
	return err
}

func (c *projectCopy) newDetacher(dir string, started int64) *detacher {
	margin := tick
	if started%int64(time.Second) == 0 {
		margin = coarseTick
	}
	items := c.project.builder.plan.items
	l := &detacher{projectCopy: c, items: items, dir: dir, since: started - int64(margin),
		states: make([]state, len(items))}
	if !c.project.store.coarseTimes {
		l.since = math.MaxInt64
	}
	return l
}

// hasExactTimes reports whether every change of a file shows in its time, however soon after a
// check it is made: Linux from 6.13 has such times, on most of its file systems.
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
