package folder

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// watcher learns from the kernel which folders of copies were touched (inotify(7)), so that after
// an attempt that touched nothing no file has to be checked. A watch ends with its first event, so
// that programs cannot fill the queue.
//
// Copied files are watched as well, for additional hard links: what is written through them does
// not show in the folder.
type watcher struct {
	mu sync.Mutex
	// fd is open
	active  bool
	fd      int
	targets map[int32]watchTarget
	most    int // targets
}

// watchTarget is a watched folder of a copy, or a watched file.
type watchTarget struct {
	copy *projectCopy
	item int
}

const folderEvents = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVE | unix.IN_MODIFY |
	unix.IN_CLOSE_WRITE | unix.IN_ATTRIB | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW | unix.IN_ONESHOT

// fileEvents report a change in the number of links of a file.
const fileEvents = unix.IN_ATTRIB | unix.IN_DONT_FOLLOW | unix.IN_ONESHOT

// open starts watching if the kernel reports changes in home, where it makes a probe.
func (w *watcher) open(home string) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return
	}
	file := filepath.Join(home, "probe")
	_, err1 := unix.InotifyAddWatch(fd, home, folderEvents)
	err2 := os.WriteFile(file, nil, 0o600)
	n, err3 := unix.Read(fd, make([]byte, 4096))
	if err1 != nil || err2 != nil || os.Remove(file) != nil || err3 != nil ||
		n < unix.SizeofInotifyEvent {
		unix.Close(fd)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fd, w.active, w.targets, w.most = fd, true, map[int32]watchTarget{}, mostWatches()
}

// mostWatches returns a quarter of the watches that a user can have: editors, sync programs and
// other workers need some, too.
func mostWatches() int {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	most, bad := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || bad != nil {
		most = 8192 // the least that Linux has by default
	}
	return most / 4
}

func (w *watcher) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.active {
		unix.Close(w.fd)
	}
	w.active = false
}

// watch watches those items of a copy at base that are not watched yet: all of them, or none where
// they are too many.
func (w *watcher) watch(t *projectCopy, base string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t.watching = false
	if !w.active {
		return
	}
	w.read() // what was done to it so far is known
	items := t.project.builder.plan.items
	if t.watches == nil {
		t.watches, t.unwatched = make([]int32, len(items)), nil
		for i := range items {
			if isWatched(&items[i]) {
				t.unwatched = append(t.unwatched, i)
			}
		}
	}
	if len(w.targets)+len(t.unwatched) > w.most {
		w.release(t)
		return
	}
	for n, i := range t.unwatched {
		w.drop(t, i)
		mask := uint32(folderEvents)
		if items[i].method == methodCopy {
			mask = fileEvents
		}
		wd, err := unix.InotifyAddWatch(w.fd, base+"/"+items[i].Path, mask)
		if err != nil { // too many, for instance
			t.unwatched = t.unwatched[n:]
			return
		}
		t.watches[i] = int32(wd)
		w.targets[int32(wd)] = watchTarget{t, i}
	}
	t.unwatched, t.watching = t.unwatched[:0], true
}

// rewatch schedules new watches for items that have been replaced.
func (w *watcher) rewatch(t *projectCopy, changed []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.active || t.watches == nil {
		return
	}
	for _, i := range changed {
		w.drop(t, i)
	}
	t.unwatched = append(t.unwatched, changed...)
}

// drop ends the watch of an item. The caller holds the lock.
func (w *watcher) drop(t *projectCopy, i int) {
	if wd := t.watches[i]; wd > 0 && w.targets[wd] == (watchTarget{t, i}) {
		delete(w.targets, wd)
		_, _ = unix.InotifyRmWatch(w.fd, uint32(wd))
	}
	t.watches[i] = 0
}

// forget ends the watches of a copy.
func (w *watcher) forget(t *projectCopy) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.active {
		w.release(t)
	}
}

// release ends the watches of a copy. The caller holds the lock.
func (w *watcher) release(t *projectCopy) {
	for i := range t.watches {
		w.drop(t, i)
	}
	t.watches, t.watching = nil, false
}

// touched returns the folders of a copy that were touched since watch, and the files that got
// another link; known is false if events may be missing.
func (w *watcher) touched(t *projectCopy) (items []int, known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.active || !t.watching {
		return nil, false
	}
	w.read()
	return slices.Clone(t.unwatched), t.watching
}

// read reads pending events. The caller holds the lock.
func (w *watcher) read() {
	var buffer [16 << 10]byte
	for {
		n, err := unix.Read(w.fd, buffer[:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return
		}
		for at := 0; at+unix.SizeofInotifyEvent <= n; {
			wd := int32(binary.NativeEndian.Uint32(buffer[at:]))
			mask := binary.NativeEndian.Uint32(buffer[at+4:])
			at += unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(buffer[at+12:]))
			w.event(wd, mask)
		}
	}
}

// event handles one event: its item is no longer watched.
func (w *watcher) event(wd int32, mask uint32) {
	if mask&unix.IN_Q_OVERFLOW != 0 { // events were lost
		for _, s := range w.targets {
			s.copy.watching = false
		}
		return
	}
	s, ok := w.targets[wd]
	if !ok {
		return
	}
	delete(w.targets, wd)
	s.copy.watches[s.item] = 0
	s.copy.unwatched = append(s.copy.unwatched, s.item)
}
