package folder

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Workspace is the folder of an attempt, with a copy of its project in it.
type Workspace struct {
	Dir string // of the task
	// where its command runs: Dir, or a folder in it
	Workdir string
	// an earlier attempt left something
	Resumed bool

	project    *Project
	copy       *projectCopy
	generation int
	// CheckSnapshot has returned an error
	reported bool
	entered  time.Time
	inode    uint64 // of Dir
	// by the file system's clock: later changes have a time that is not earlier
	startedAt int64
}

// Enter prepares the folder of a task. What an earlier attempt made stays, and what was removed as
// unchanged is put back beside it. Call Leave when no process of the attempt is alive.
func (p *Project) Enter(ctx context.Context, dir string) (c *Workspace, err error) {
	c = &Workspace{Dir: dir, Workdir: filepath.Join(dir, p.rules.Workdir), project: p,
		entered: time.Now()}
	if c.generation, err = p.snapshot.ready(ctx, p.store.o.Rebuild); err != nil {
		return nil, err
	}
	if c.copy, err = p.acquire(c.generation); err != nil {
		return nil, err
	}
	if err = c.copy.record.set(dir, p); err != nil {
		return nil, errors.Join(err, c.copy.discard())
	}
	if err = c.moveIn(); err == nil {
		err = c.recordIdentity()
	}
	if err != nil {
		return nil, errors.Join(err, c.abandon())
	}
	return c, nil
}

// recordIdentity records the identity of the task's folder.
func (w *Workspace) recordIdentity() error {
	if w.copy.inode != 0 && !w.Resumed && !w.project.store.coarseTimes {
		w.inode = w.copy.inode
		return nil
	}
	id, err := lstat(w.Dir)
	w.inode, w.startedAt = id.inode, id.ctime
	return err
}

// abandon removes the copy, including what has reached the task's folder. If that fails, the record
// stays for the next start.
func (w *Workspace) abandon() error {
	t := w.copy
	t.project.store.watcher.forget(t)
	err := removeAll(t.path)
	if info, none := os.Lstat(w.Dir); none == nil && info.IsDir() {
		if failed := w.project.removeUnchanged(w.Dir); failed != nil {
			return errors.Join(err, failed, t.record.file.Close())
		}
		if !w.Resumed {
			_ = os.Remove(w.Dir) // it is empty: nothing ran in it
		}
	}
	return errors.Join(err, t.record.remove())
}

// moveIn moves the copy to the task's folder; an empty folder there is replaced.
func (w *Workspace) moveIn() error {
	err := rename(w.copy.path, w.Dir)
	if errors.Is(err, fs.ErrNotExist) { // the sweep's folder or the copy was removed
		if err = errors.Join(os.MkdirAll(filepath.Dir(w.Dir), 0o700), w.recreate()); err == nil {
			err = rename(w.copy.path, w.Dir)
		}
	}
	if errors.Is(err, syscall.EXDEV) { // the folder is on another file system than the store's
		if err = os.Mkdir(w.Dir, copyMode); err == nil {
			return errors.Join(w.makeAt(w.Dir), removeAll(w.copy.path))
		}
	}
	if err == nil {
		return nil
	}
	switch info, none := os.Lstat(w.Dir); {
	case none != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		// an attempt put it there: its target is not the task's
		if err := os.Remove(w.Dir); err != nil {
			return err
		}
		return w.moveIn()
	case !info.IsDir():
		return &os.PathError{Op: "open", Path: w.Dir, Err: syscall.ENOTDIR}
	}
	w.Resumed = true
	w.copy.project.store.watcher.forget(w.copy)
	return w.merge()
}

// recreate makes the copy again if it was removed.
func (w *Workspace) recreate() error {
	if _, err := os.Lstat(w.copy.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(w.copy.path, copyMode); err != nil {
		return err
	}
	return w.makeAt(w.copy.path)
}

// makeAt makes the whole copy anew in an empty folder.
func (w *Workspace) makeAt(dir string) error {
	w.copy.project.store.watcher.forget(w.copy)
	clear(w.copy.present)
	w.copy.incomplete, w.copy.inode = true, 0
	return w.copy.completeAt(context.Background(), dir)
}

// CheckSnapshot returns an error, once, if the project's snapshot was modified while the attempt
// ran: a *ModifiedError, or another one if the snapshot has been rebuilt since.
func (w *Workspace) CheckSnapshot() error {
	if w.reported || len(w.project.builder.plan.Linked) == 0 {
		return nil
	}
	err := w.project.snapshot.check(w.generation)
	if w.reported = err != nil; w.reported {
		w.project.store.remember(w.project.snapshot)
	}
	return err
}

// briefRun is the maximum duration of an attempt whose folder may be exchanged for another one at
// its end: too short for a person or an unrelated program to have made it its working directory.
const briefRun = 100 * time.Millisecond

// Leave takes the copy out of the task's folder, which then holds what the task made or changed. It
// returns the error of CheckSnapshot unless that was returned before; any other error is logged.
func (w *Workspace) Leave() error {
	written := w.CheckSnapshot()
	err := w.copy.detach(w.Dir, w.inode, w.startedAt, time.Since(w.entered) < briefRun)
	if err == nil {
		err = w.copy.record.set("", nil)
	}
	if err == nil {
		w.project.store.addIdle(w.copy)
	} else {
		w.project.store.o.Log.Warn("what a task left unchanged is still in its folder", "folder",
			w.Dir, "error", err)
		w.project.store.watcher.forget(w.copy)
		_ = w.copy.record.file.Close() // the record stays for the next start
	}
	return written
}
