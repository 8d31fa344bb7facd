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
	Dir     string // of the task
	Workdir string // where its command runs: Dir, or a folder in it
	Resumed bool   // an earlier attempt left something

	project    *Project
	tree       *workCopy
	generation int
	reported   bool // Written has said that the snapshot was written to
	entered    time.Time
	inode      uint64 // of Dir
	// by the file system's clock: what was touched since then has a time that is not before it
	startedAt int64
}

// Enter makes the folder of a task ready. What an earlier attempt made stays, and what was taken
// away as unchanged is put back beside it. Leave is to be called when no process of the attempt is
// alive.
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

// recordIdentity notes what the task's folder is.
func (c *Checkout) recordIdentity() error {
	if c.tree.inode != 0 && !c.Resumed && !c.project.store.coarseTimes {
		c.inode = c.tree.inode
		return nil
	}
	id, err := lstat(c.Dir)
	c.inode, c.startedAt = id.inode, id.ctime
	return err
}

// abandon removes the copy, and what of it came into the task's folder. Where that fails the record
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

// moveIn moves the copy to where the task's folder is to be; an empty folder that is there gives
// way.
func (c *Checkout) moveIn() error {
	err := rename(c.tree.path, c.Dir)
	if errors.Is(err, fs.ErrNotExist) { // somebody removed the sweep's folder, or the copy
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
	case info.Mode()&fs.ModeSymlink != 0: // an attempt put it there: what it leads to is not the task's
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

// recreate makes the copy anew if somebody removed it.
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

// merge puts the copy beside what an earlier attempt left.
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

// merger puts a copy into a folder that is there.
type merger struct {
	*Checkout
	items           []item
	moved           []int // items whose identities are new
	otherFilesystem bool  // the folder is on another file system
}

// folder joins the items of one folder.
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

// markAbsent notes that nothing of an item came into the folder.
func (j *merger) markAbsent(i int) {
	for n := i; n < j.items[i].end; n++ {
		j.tree.present[n], j.tree.incomplete = false, true
		j.tree.ids[n] = identity{}
	}
}

// moveIn moves an item into the folder, with all below it.
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

// fromEarlierCopy reports whether what lies at an item's path was put there for an earlier attempt:
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

// CheckSnapshot returns an error where the project's snapshot was written to while the attempt ran,
// once: *Written, or another where it has been made anew since.
func (c *Checkout) CheckSnapshot() error {
	if c.reported || len(c.project.builder.plan.Linked) == 0 {
		return nil
	}
	err := c.project.snapshot.check(c.generation)
	c.reported = err != nil
	return err
}

// briefRun is for how long an attempt may run whose folder is replaced by another when it ends: too
// short for a person, or a program that is not of the attempt, to have it as a working directory.
const briefRun = 100 * time.Millisecond

// Leave takes the copy out of the task's folder: what is left there the task made or changed. The
// error is that of Written, nil where it was returned before; whatever else goes wrong is logged.
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
