package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"mlframework/sweep/task"
)

// What a worker that had no room for outputs needs to go on: this many bytes free, or a part of a small disk.
const (
	enoughRoom = 16 << 20
	enoughPart = 20
)

// noSpace reports whether an error says that a disk, or somebody's part of it, is full.
func noSpace(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// NoRoom is how the reason begins why a worker takes nothing that has no room for outputs.
const NoRoom = "no space left for outputs"

// fullDisk says why a worker takes nothing that has no room for outputs.
func (w *Worker) fullDisk() string {
	return fmt.Sprintf(NoRoom+" (%s on %s): free some disk space", w.o.Outputs, w.o.Host)
}

// noRoom tells that nothing is taken from now on, and gives back what waits. The master hears why before it hears of what
// comes back, so that it does not send it again.
func (w *Worker) noRoom(ctx context.Context) {
	w.o.Log.Error("nothing new is taken until there is room for outputs", "folder", w.o.Outputs)
	if w.port.Beat(ctx, w.heartbeat()) != nil {
		w.beatNow() // it is tried again
	}
	w.desk.giveBackAll()
	if w.o.NoRoom != nil {
		w.o.NoRoom(w.fullDisk())
	}
}

// watchRoom lets a worker go on that had no room, when there is some.
func (w *Worker) watchRoom(ctx context.Context) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if w.desk.isFull() && hasRoom(w.o.Outputs) {
				w.desk.full("")
				w.o.Log.Info("there is room for outputs again")
				w.beatNow()
			}
		case <-ctx.Done():
			return
		}
	}
}

// hasRoom reports whether a folder takes files again. Free bytes alone do not tell: a quota or a lack of inodes does not
// show there.
func hasRoom(folder string) bool {
	total, free := disk(folder)
	enough := min(enoughRoom, total/enoughPart)
	if free < enough {
		return false
	}
	if os.MkdirAll(folder, 0o700) != nil { // it may have been removed to make room
		return false
	}
	file, err := os.CreateTemp(folder, ".room-*")
	if err != nil {
		return false
	}
	_, err = file.Write(make([]byte, min(enough, 64<<10)))
	return errors.Join(err, file.Close(), os.Remove(file.Name())) == nil
}

// disk is the size of the file system that a folder is on, or will be, and what programs could still write there.
func disk(folder string) (total, free int64) {
	var s unix.Statfs_t
	err := unix.Statfs(folder, &s)
	for errors.Is(err, unix.ENOENT) && folder != filepath.Dir(folder) {
		folder = filepath.Dir(folder)
		err = unix.Statfs(folder, &s)
	}
	return int64(s.Blocks) * int64(s.Bsize), int64(s.Bavail) * int64(s.Bsize)
}

// full notes why nothing is taken; "": there is room. It tells whether that is news.
func (d *desk) full(reason string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.noRoom
	d.noRoom = reason
	d.some.Broadcast()
	return was != reason
}

func (d *desk) isFull() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.noRoom != ""
}

// giveBackAll gives back what waits and what has arrived.
func (d *desk) giveBackAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.takeNothing()
}

// returnRunning gives back an item in a slot that could not begin.
func (d *desk) returnRunning(i item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running[i.key()].ended = true
	d.known.returned(i.key())
	d.out.put(i.event(task.ReturnedEvent, d.worker))
}
