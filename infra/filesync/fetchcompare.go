package filesync

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"mlframework/projects"
)

// A job is one file that is asked for.
type job struct {
	entry   Output
	offset  int64       // so many bytes are there already
	sum     []byte      // the SHA-256 of those
	from    string      // the file that has them
	compare bool        // that file is another hand's: it stays, whatever it is
	old     fs.FileInfo // what lies at the file's place; nil: nothing
}

// rest is how many bytes are to come at most.
func (j job) rest() int64 { return min(j.entry.Data, j.entry.Size-j.offset) }

// compare compares the offer with what is there. It changes nothing.
func (f *fetch) compare(ctx context.Context) error {
	shut := map[string]bool{}   // folders that something else stands in the place of
	absent := map[string]bool{} // folders that are to be made: nothing is in them
	for _, e := range f.offered {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !f.chosen(e) {
			continue
		}
		parent := path.Dir(e.Path)
		if shut[parent] {
			shut[e.Path] = true
			continue
		}
		var err error
		switch e.Kind {
		case Other:
			f.skip(e.Path, e.Link)
		case projects.Dir:
			absent[e.Path] = absent[parent]
			if !absent[parent] {
				absent[e.Path], shut[e.Path], err = f.folder(e.Entry)
			}
			if absent[e.Path] {
				f.folders = append(f.folders, e.Entry)
			}
		case projects.Symlink:
			f.links = append(f.links, e.Entry)
		case projects.File:
			err = f.file(ctx, e, absent[parent])
		}
		if err != nil {
			return err
		}
	}
	f.chooseLinks()
	for _, j := range f.jobs {
		f.progress.OfFiles++
		f.progress.OfBytes += j.rest()
	}
	return nil
}

// folder looks at the place of a folder. absent: it is to be made, also where a fetch has left
// something else. shut: something else is there, and stays.
func (f *fetch) folder(e projects.Entry) (absent, shut bool, err error) {
	info, err := f.to.Lstat(e.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, false, nil
	case err != nil || info.IsDir():
		return false, false, err
	case f.to.made(e.Path, info):
		return true, false, nil
	}
	f.conflict(e.Path)
	return false, true, nil
}

// makeFolder makes a folder, in the place of what a fetch has left there. Another fetch may make it
// at the same time.
func (f *fetch) makeFolder(e projects.Entry) error {
	info, err := f.to.Lstat(e.Path)
	if err == nil && f.to.made(e.Path, info) {
		err = f.to.Remove(e.Path)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = f.to.Mkdir(e.Path, e.Mode|0o700)
	}
	if info, failed := f.to.Lstat(e.Path); failed == nil && info.IsDir() {
		return nil
	}
	return err
}

// chooseLinks keeps the links that stay in their task's folder.
func (f *fetch) chooseLinks() {
	kept := f.links[:0]
	for _, e := range f.links {
		if staysBelow(e) {
			kept = append(kept, e)
		} else {
			f.skip(e.Path, "it is a link that may lead out of the task's folder, to "+e.Link)
		}
	}
	f.links = kept
}

// staysBelow says whether a link leads to something in its task's folder, there or not. It looks at
// nothing else, so that no other link, of this fetch or a later one, can change it: the target goes
// up at first only, through folders that are no links, and not above the task's. Each link that it
// leads through then stays there, too.
func staysBelow(e projects.Entry) bool {
	if path.IsAbs(e.Link) {
		return false
	}
	ups := strings.Count(e.Path, "/") - 1 // how often the target may go up
	named := false
	for part := range strings.SplitSeq(e.Link, "/") {
		switch part {
		case "", ".":
		case "..":
			if ups--; named || ups < 0 {
				return false
			}
		default:
			named = true
		}
	}
	return true
}

// file decides what is needed of a file. absent: its folder is not there yet.
func (f *fetch) file(ctx context.Context, e Output, absent bool) error {
	j := job{entry: e}
	old, err := f.to.Lstat(e.Path)
	switch {
	case absent || errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case f.to.has(e.Entry, old):
		f.done.Had++
		return nil
	case !f.to.made(e.Path, old):
		if !old.Mode().IsRegular() || old.Size() != e.Size || e.Size == 0 {
			f.conflict(e.Path)
			return nil
		}
		j.compare = true
		fallthrough
	default:
		j.old = old
	}
	j.from = f.to.part(e.Path)
	info, err := f.to.Lstat(j.from)
	if (err != nil || j.compare) && j.old != nil && j.old.Mode().IsRegular() {
		j.from, info, err = e.Path, j.old, nil
	}
	if err == nil && info.Mode().IsRegular() && info.Size() <= e.Size && info.Size() > 0 {
		sum, err := f.to.sum(ctx, j.from, info.Size())
		if err != nil {
			return err
		}
		j.offset, j.sum = info.Size(), sum
	}
	f.jobs = append(f.jobs, j)
	return nil
}

// link makes a link.
func (f *fetch) link(e projects.Entry) error {
	err := f.to.Symlink(e.Link, e.Path)
	if errors.Is(err, fs.ErrExist) {
		target, _ := f.to.Readlink(e.Path)
		now, failed := f.to.Lstat(e.Path)
		switch {
		case failed != nil:
			return failed
		case target == e.Link: // which is not empty
			f.done.Had++
			return nil
		case !f.to.made(e.Path, now):
			f.conflict(e.Path)
			return nil
		}
		err = errors.Join(f.to.Remove(e.Path), f.to.Symlink(e.Link, e.Path))
	}
	if err != nil {
		return err
	}
	f.done.Files++
	return f.to.noteLink(e.Path)
}
