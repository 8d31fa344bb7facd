package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

const (
	// minFreeBytes and minFreePart are the free space at which a worker continues after its disk
	// was full: this many bytes, or this fraction of a small disk.
	minFreeBytes = 16 << 20
	minFreePart  = 20
)

// noSpace reports whether an error says that a disk or a quota is full.
func noSpace(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// noSpaceReason returns why a worker without disk space accepts nothing.
func (w *Worker) noSpaceReason() string {
	return fmt.Sprintf(task.NoSpaceReason+" (%s on %s): free some disk space",
		human.Visible(w.o.Outputs), w.o.Host)
}

// pauseForSpace reports that nothing is accepted from now on, and returns what waits. The master
// gets the reason before the returned attempts, so that it does not send them again.
func (w *Worker) pauseForSpace(ctx context.Context) {
	w.o.Log.Error("accepting no tasks until there is space for outputs", "folder", w.o.Outputs)
	if w.port.SendHeartbeat(ctx, w.heartbeat()) != nil {
		w.beatNow() // it is tried again
	}
	w.scheduler.lockAndReturnAll()
	if w.o.OnNoSpace != nil {
		w.o.OnNoSpace(w.noSpaceReason())
	}
}

// outputsRemoved reports whether the folder of the outputs was removed although it is mounted, as
// it is in a container. Nothing can be written there until a new one is mounted, so that the worker
// ends for a restart.
func (w *Worker) outputsRemoved() bool {
	var s unix.Stat_t
	err := unix.Stat(w.o.Outputs, &s)
	if !errors.Is(err, unix.ESTALE) && (err != nil || s.Nlink > 0) {
		return false
	}
	w.o.Log.Error("the folder of outputs was removed: the worker exits to be restarted with a new "+
		"one; in a cluster infrainit -f makes it", "folder", w.o.Outputs)
	w.scheduler.retire()
	w.endNow()
	return true
}

// watchSpace resumes a worker whose disk was full once there is space.
func (w *Worker) watchSpace(ctx context.Context) {
	ticker := time.NewTicker(heartbeatInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			w.outputsRemoved()
			if w.scheduler.outOfSpace() && hasSpace(w.o.Outputs) {
				w.scheduler.setNoSpace("")
				w.o.Log.Info("there is space for outputs again")
				w.beatNow()
			}
		case <-ctx.Done():
			return
		}
	}
}

// hasSpace reports whether files can be written to a folder again. Free bytes alone do not show a
// quota or a lack of inodes.
func hasSpace(folder string) bool {
	free, enough := freeSpace(folder)
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

// freeSpace returns the free space of a folder's file system, and below which it counts as full.
func freeSpace(folder string) (free, enough int64) {
	total, free := disk(folder)
	return free, min(minFreeBytes, total/minFreePart)
}

// failedFull reports whether a program failed while the disk of the outputs was full.
func (w *Worker) failedFull(o *task.Outcome) bool {
	free, enough := freeSpace(w.o.Outputs)
	return o.Class == task.Error && free < enough
}

// disk returns the size of the file system that a folder is on, or will be, and the space that
// programs can still use.
func disk(folder string) (total, free int64) {
	var s unix.Statfs_t
	err := unix.Statfs(folder, &s)
	for errors.Is(err, unix.ENOENT) && folder != filepath.Dir(folder) {
		folder = filepath.Dir(folder)
		err = unix.Statfs(folder, &s)
	}
	return int64(s.Blocks) * int64(s.Bsize), int64(s.Bavail) * int64(s.Bsize)
}
