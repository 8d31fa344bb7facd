package folder

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Workspace is the folder of an attempt, with a copy of its project in it.
type Workspace struct {
	Dir string // of the task
	// where its command runs: Dir, or a folder in it
	Workdir string
	// an earlier attempt left something
	Resumed bool

	project    *Project
	place      *place
	made       []made // the entries created in Dir
	generation int
	// CheckSnapshot has returned an error
	reported bool
}

// copyMode is the mode of a task's folder: it is private to the attempt.
const copyMode = 0o700

// Enter prepares the folder of a task. Files of an earlier attempt stay, and the project's files
// are copied beside them. Call Leave when no process of the attempt is alive.
func (p *Project) Enter(ctx context.Context, dir string) (w *Workspace, err error) {
	w = &Workspace{Dir: dir, Workdir: filepath.Join(dir, p.rules.Workdir), project: p}
	if w.generation, err = p.snapshot.ready(ctx, p.store.o.Rebuild); err != nil {
		return nil, err
	}
	if w.place, err = p.store.takePlace(); err != nil {
		return nil, err
	}
	err = w.make(ctx)
	if err == nil {
		err = w.moveIn(ctx)
	}
	if err != nil {
		err = errors.Join(err, removeAll(w.place.path), removeUntouched(dir, w.made))
		if !w.Resumed {
			_ = os.Remove(dir) // it is empty: nothing ran in it
		}
		return nil, errors.Join(err, p.store.returnPlace(w.place))
	}
	return w, nil
}

// make creates the copy in a separate folder.
func (w *Workspace) make(ctx context.Context) error {
	err := os.Mkdir(w.place.path, copyMode)
	if errors.Is(err, fs.ErrNotExist) { // somebody removed the outputs
		err = os.MkdirAll(w.place.path, copyMode)
	}
	if err != nil {
		return err
	}
	b := &w.project.builder
	all, err := b.makeAll(ctx, b.plan.items, w.place.path)
	if err != nil {
		return err
	}
	w.made = all
	return w.place.write(record{w.Dir, all})
}

// moveIn moves the copy to the task's folder. An empty folder there is replaced.
func (w *Workspace) moveIn(ctx context.Context) error {
	err := rename(w.place.path, w.Dir)
	if errors.Is(err, fs.ErrNotExist) { // the sweep's folder was removed
		if err = os.MkdirAll(filepath.Dir(w.Dir), copyMode); err == nil {
			err = rename(w.place.path, w.Dir)
		}
	}
	if err == nil {
		return nil
	}
	switch info, none := os.Lstat(w.Dir); {
	case errors.Is(none, fs.ErrNotExist) && errors.Is(err, syscall.EXDEV):
		if err := os.Mkdir(w.Dir, copyMode); err != nil {
			return err
		}
	case none != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		// an attempt put it there: its target is not the task's
		if err := os.Remove(w.Dir); err != nil {
			return err
		}
		return w.moveIn(ctx)
	case !info.IsDir():
		return &os.PathError{Op: "open", Path: w.Dir, Err: syscall.ENOTDIR}
	default:
		w.Resumed = true
	}
	return w.merge(ctx)
}

// merge adds the copy to the existing content of the task's folder.
func (w *Workspace) merge(ctx context.Context) error {
	moving := slices.Clone(w.made)
	for i := range moving {
		moving[i].ID.Ctime = 0 // moving an entry changes its ctime
	}
	if err := w.place.write(record{w.Dir, moving}); err != nil {
		return err
	}
	all, items := w.made, w.project.builder.plan.items
	w.made = moving
	var there []made
	for i := 0; i < len(items); {
		it := &items[i]
		switch info, err := os.Lstat(w.Dir + "/" + it.Path); {
		case err == nil && info.IsDir() && it.method == methodDir:
			there = append(there, all[i])
			i++ // its entries come next
			continue
		case errors.Is(err, fs.ErrNotExist):
			moved, err := w.moveItems(ctx, items[i:it.end], all[i:it.end])
			if err != nil {
				return err
			}
			there = append(there, moved...)
		case err != nil:
			return err
		} // else it belongs to the task
		i = it.end
	}
	w.made = there // on another file system, they are new files
	return errors.Join(w.place.write(record{w.Dir, there}), removeAll(w.place.path))
}

// moveItems moves an item, with everything below it, to the task's folder.
func (w *Workspace) moveItems(ctx context.Context, items []item, all []made) ([]made, error) {
	at := items[0].Path
	err := rename(w.place.path+"/"+at, w.Dir+"/"+at)
	if errors.Is(err, syscall.EXDEV) { // the task's folder is on another file system
		return w.project.builder.makeAll(ctx, items, w.Dir)
	}
	if err == nil && !all[0].Dir {
		all[0].ID, err = lstat(w.Dir + "/" + at)
	}
	return all, err
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

// Leave takes the copy out of the task's folder, which then holds what the task made or changed. It
// returns the error of CheckSnapshot unless that was returned before; any other error is logged.
func (w *Workspace) Leave() error {
	written := w.CheckSnapshot()
	err := removeUntouched(w.Dir, w.made)
	if err == nil {
		w.made = nil
		err = w.project.store.returnPlace(w.place)
	}
	if err != nil { // the record stays for the next start
		_ = w.place.record.Close()
		w.project.store.o.Log.Warn("cannot remove untouched files from the folder of a task",
			"folder", w.Dir, "error", err)
	}
	return written
}
