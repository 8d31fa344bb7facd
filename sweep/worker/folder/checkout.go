package folder

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Checkout is the folder of an attempt, with a copy of its project in it.
type Checkout struct {
	Dir string // of the task
	// where its command runs: Dir, or a folder in it
	Workdir string
	// an earlier attempt left something
	Resumed bool

	project    *Project
	tree       *workCopy
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
func (p *Project) Enter(ctx context.Context, dir string) (c *Checkout, err error) {
	c = &Checkout{Dir: dir, Workdir: filepath.Join(dir, p.rules.Workdir), project: p,
		entered: time.Now()}
	if c.generation, err = p.snapshot.ready(ctx, p.store.o.Rebuild); err != nil {
		return nil, err
	}
	if c.tree, err = p.acquire(c.generation); err != nil {
		return nil, err
	}
	if err = c.tree.record.set(dir, p); err != nil {
		return nil, errors.Join(err, c.tree.discard())
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
func (c *Checkout) recordIdentity() error {
	if c.tree.inode != 0 && !c.Resumed && !c.project.store.coarseTimes {
		c.inode = c.tree.inode
		return nil
	}
	id, err := lstat(c.Dir)
	c.inode, c.startedAt = id.inode, id.ctime
	return err
}

// abandon removes the copy, including what has reached the task's folder. If that fails, the record
// stays for the next start.
func (c *Checkout) abandon() error {
	t := c.tree
	t.project.store.watcher.forget(t)
	err := removeAll(t.path)
	if info, none := os.Lstat(c.Dir); none == nil && info.IsDir() {
		if failed := c.project.removeUnchanged(c.Dir); failed != nil {
			return errors.Join(err, failed, t.record.file.Close())
		}
		if !c.Resumed {
			_ = os.Remove(c.Dir) // it is empty: nothing ran in it
		}
	}
	return errors.Join(err, t.record.remove())
}

// moveIn moves the copy to the task's folder; an empty folder there is replaced.
func (c *Checkout) moveIn() error {
	err := rename(c.tree.path, c.Dir)
	if errors.Is(err, fs.ErrNotExist) { // the sweep's folder or the copy was removed
		if err = errors.Join(os.MkdirAll(filepath.Dir(c.Dir), 0o700), c.recreate()); err == nil {
			err = rename(c.tree.path, c.Dir)
		}
	}
	if errors.Is(err, syscall.EXDEV) {
		if err = os.Mkdir(c.Dir, 0o700); err == nil {
			return c.createInPlace()
		}
	}
	if err == nil {
		return nil
	}
	switch info, none := os.Lstat(c.Dir); {
	case none != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		// an attempt put it there: its target is not the task's
		if err := os.Remove(c.Dir); err != nil {
			return err
		}
		return c.moveIn()
	case !info.IsDir():
		return &os.PathError{Op: "open", Path: c.Dir, Err: syscall.ENOTDIR}
	}
	c.Resumed = true
	c.tree.project.store.watcher.forget(c.tree)
	return c.merge()
}

// recreate makes the copy again if it was removed.
func (c *Checkout) recreate() error {
	if _, err := os.Lstat(c.tree.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(c.tree.path, 0o700); err != nil {
		return err
	}
	c.tree.project.store.watcher.forget(c.tree)
	clear(c.tree.present)
	c.tree.incomplete, c.tree.inode = true, 0
	return c.tree.complete(context.Background())
}

// createInPlace makes the copy in the task's folder, which is on another file system than the
// store's.
func (c *Checkout) createInPlace() error {
	c.tree.project.store.watcher.forget(c.tree)
	clear(c.tree.present)
	c.tree.incomplete, c.tree.inode = true, 0
	return errors.Join(c.tree.completeAt(context.Background(), c.Dir), removeAll(c.tree.path))
}

// merge adds the copy to what an earlier attempt left.
func (c *Checkout) merge() error {
	j := merger{Checkout: c, items: c.tree.project.builder.plan.items}
	if err := j.folder(0, len(j.items)); err != nil {
		return err
	}
	for _, i := range j.moved {
		id, err := lstat(c.Dir + "/" + j.items[i].Path)
		if err != nil {
			return err
		}
		c.tree.ids[i] = id
	}
	return removeAll(c.tree.path)
}

// merger adds a copy to an existing folder.
type merger struct {
	*Checkout
	items []item
	// items with new identities
	moved []int
	// the folder is on another file system
	otherFilesystem bool
}

// folder merges the items of one folder.
func (j *merger) folder(from, end int) error {
	for i := from; i < end; i = j.items[i].end {
		it := &j.items[i]
		path := j.Dir + "/" + it.Path
		id, err := lstat(path)
		switch {
		case err == nil && id.isDir() && it.method == methodDir:
			j.tree.ids[i] = identity{} // it is never as it was: the task has something in it
			if err := j.folder(i+1, it.end); err != nil {
				return err
			}
			continue
		case err == nil && j.fromEarlierCopy(it, id, path):
			if err := os.Remove(path); err != nil {
				return err
			}
		case err == nil: // the task's own
			j.markAbsent(i)
			continue
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if err := j.moveIn(i, path); err != nil {
			return err
		}
	}
	return nil
}

// markAbsent records that an item was not put into the folder.
func (j *merger) markAbsent(i int) {
	for n := i; n < j.items[i].end; n++ {
		j.tree.present[n], j.tree.incomplete = false, true
		j.tree.ids[n] = identity{}
	}
}

// moveIn moves an item with everything below it into the folder.
func (j *merger) moveIn(i int, path string) error {
	if !j.otherFilesystem {
		err := rename(j.tree.path+"/"+j.items[i].Path, path)
		if err == nil {
			j.moved = append(j.moved, i)
			return nil
		}
		if j.otherFilesystem = errors.Is(err, syscall.EXDEV); !j.otherFilesystem {
			return err
		}
	}
	var below []int
	for n := i; n < j.items[i].end; n++ {
		below = append(below, n)
	}
	j.moved = append(j.moved, below...)
	return j.project.builder.makeAll(context.Background(), below, j.Dir, j.tree.ids)
}

// fromEarlierCopy reports whether what is at an item's path was put there for an earlier attempt:
// an unchanged copy that a killed worker left, or a link into a snapshot.
func (j *merger) fromEarlierCopy(it *item, id identity, path string) bool {
	switch {
	case id.isLink():
		target, err := os.Readlink(path)
		if err != nil || it.method == methodKeepLink {
			return err == nil && target == it.Target
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		revisions := filepath.Dir(j.project.builder.snapshot) + "/"
		real, _ := filepath.EvalSymlinks(filepath.Dir(target))
		return target == it.Target || strings.HasPrefix(target, revisions) ||
			strings.HasPrefix(real+"/", revisions)
	case id.isFile() && it.method == methodCopy:
		return id.size == it.Size && id.mtime == it.ModTime.UnixNano() &&
			id.executable() == it.Executable &&
			j.project.builder.matches(it, path)
	}
	return false
}

// CheckSnapshot returns an error, once, if the project's snapshot was modified while the attempt
// ran: a *ModifiedError, or another one if the snapshot has been rebuilt since.
func (c *Checkout) CheckSnapshot() error {
	if c.reported || len(c.project.builder.plan.Linked) == 0 {
		return nil
	}
	err := c.project.snapshot.check(c.generation)
	c.reported = err != nil
	return err
}

// briefRun is the maximum duration of an attempt whose folder may be exchanged for another one at
// its end: too short for a person or an unrelated program to have made it its working directory.
const briefRun = 100 * time.Millisecond

// Leave takes the copy out of the task's folder, which then holds what the task made or changed. It
// returns the error of CheckSnapshot unless that was returned before; any other error is logged.
func (c *Checkout) Leave() error {
	written := c.CheckSnapshot()
	err := c.tree.detach(c.Dir, c.inode, c.startedAt, time.Since(c.entered) < briefRun)
	if err == nil {
		err = c.tree.record.set("", nil)
	}
	if err == nil {
		c.project.store.addIdle(c.tree)
	} else {
		c.project.store.o.Log.Warn("what a task left unchanged is still in its folder", "folder",
			c.Dir, "error", err)
		c.project.store.watcher.forget(c.tree)
		_ = c.tree.record.file.Close() // the record stays for the next start
	}
	return written
}
