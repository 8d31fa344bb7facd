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
	entry   projects.Entry
	data    int64       // so many bytes of it are in no hole
	offset  int64       // so many bytes are there already
	sum     []byte      // the SHA-256 of those
	from    string      // the file that has them
	compare bool        // that file is another hand's: it stays, whatever it is
	old     fs.FileInfo // what lies at the file's place; nil: nothing
}

// rest is how many bytes are to come at most.
func (j job) rest() int64 { return min(j.data, j.entry.Size-j.offset) }

// compare compares the offer with what is there. Folders are made at once, links at the end, files
// asked for.
func (f *fetch) compare(ctx context.Context) error {
	shut := map[string]bool{} // folders that something else stands in the place of
	for _, e := range f.offered {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !f.chosen(e) {
			continue
		}
		if parent := path.Dir(e.Path); shut[parent] {
			shut[e.Path] = true
			continue
		}
		var err error
		switch e.Kind {
		case Other:
			f.skip(e.Path, e.Link)
		case projects.Dir:
			shut[e.Path], err = f.folder(e)
		case projects.Symlink:
			f.links = append(f.links, e)
		case projects.File:
			err = f.file(ctx, e)
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

// folder makes a folder. shut: something else is there.
func (f *fetch) folder(e projects.Entry) (shut bool, err error) {
	err = f.to.Mkdir(e.Path, e.Mode|0o700)
	if !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	info, err := f.to.Lstat(e.Path)
	if err == nil && !info.IsDir() {
		f.conflict(e.Path)
		return true, nil
	}
	return false, err
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

// file decides what is needed of a file.
func (f *fetch) file(ctx context.Context, e projects.Entry) error {
	j := job{entry: e, data: e.Size}
	if data, holes := f.data[e.Path]; holes {
		j.data = data
	}
	old, err := f.to.Lstat(e.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case f.to.has(e, old):
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
	if (err != nil || j.compare) && j.old != nil {
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
		target, notLink := f.to.Readlink(e.Path)
		switch {
		case notLink == nil && target == e.Link:
			f.done.Had++
			return nil
		case notLink != nil || !f.to.madeLink(e.Path):
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
