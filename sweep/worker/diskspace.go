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
)

const (
	// minFreeBytes and minFreePart are the free space at which a worker continues after its disk
	// was full: this many bytes, or this fraction of a small disk.
	minFreeBytes = 16 << 20
	minFreePart  = 20
)

// noSpace reports whether an error says that a disk or a quota is full.
func noSpace(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// NoSpaceReason is how the reason begins with which a worker without disk space accepts nothing.
const NoSpaceReason = "no space left for outputs"

// noSpaceReason returns why a worker without disk space accepts nothing.
func (w *Worker) noSpaceReason() string {
	return fmt.Sprintf(NoSpaceReason+" (%s on %s): free some disk space",
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

// watchSpace resumes a worker whose disk was full once there is space.
func (w *Worker) watchSpace(ctx context.Context) {
	ticker := time.NewTicker(heartbeatInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
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
	total, free := disk(folder)
	enough := min(minFreeBytes, total/minFreePart)
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
