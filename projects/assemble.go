package projects

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mlframework/internal/rootfile"
)

// assemblyPrefix begins the names of folders that assemblies work in.
const assemblyPrefix = temporaryPrefix + "push-"

// partPrefix begins the names of files beside the snapshots with the beginning of a content: its
// hash follows.
const partPrefix = ".part-"

// An Assembly is a snapshot in the making whose contents come from elsewhere than the project's
// folder. Put, Resume or Reuse gives it every content that Lacking names, Publish moves it to its
// place, Discard takes it away. The three may be called concurrently for different hashes.
type Assembly struct {
	manifest  *Manifest
	revisions string             // absolute
	temporary string             // absolute, below revisions
	all, root *os.Root           // of revisions and temporary: no name leads out of them
	places    map[string][]Entry // files by hash
	release   func()
}

// Assemble begins a snapshot of m, which it checks, in a new folder below revisions. Two calls for
// one folder may not overlap, nor one the Publish of another: the caller has a lock. So whatever an
// assembly that was killed left is removed at once.
func Assemble(m *Manifest, revisions string) (*Assembly, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	revisions, err := filepath.Abs(revisions)
	if err != nil {
		return nil, err
	}
	removeLeftovers(revisions, assemblyPrefix, 0)
	removeLeftovers(revisions, temporaryPrefix, leftoverAge)
	a := &Assembly{manifest: m, revisions: revisions, places: map[string][]Entry{}}
	if a.temporary, a.release, err = temporaryFolder(revisions, assemblyPrefix); err != nil {
		return nil, err
	}
	if err := a.open(); err != nil {
		return nil, errors.Join(err, a.Discard())
	}
	return a, nil
}

// open makes the folders.
func (a *Assembly) open() (err error) {
	if a.all, err = os.OpenRoot(a.revisions); err != nil {
		return err
	}
	if a.root, err = a.all.OpenRoot(filepath.Base(a.temporary)); err != nil {
		return err
	}
	for _, e := range a.manifest.Entries {
		switch e.Kind {
		case Dir:
			err = a.root.Mkdir(e.Path, 0o755)
		case File:
			a.places[e.Hash] = append(a.places[e.Hash], e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Lacking is one file for each content, in the manifest's order.
func (a *Assembly) Lacking() (files []Entry) {
	for _, e := range a.manifest.Entries {
		if e.Kind == File && a.places[e.Hash][0].Path == e.Path {
			files = append(files, e)
		}
	}
	return files
}

// Put writes a content to every file that has its hash; it reads no more than their size. What does
// not have that hash is a *ChangedError, and nothing of it stays: another Put of the hash may
// follow.
func (a *Assembly) Put(ctx context.Context, hash string, from io.Reader) error {
	places := a.places[hash]
	if len(places) == 0 {
		return fmt.Errorf("no file of the project has the hash %s", shown(hash))
	}
	if err := a.write(ctx, places[0], from); err != nil {
		return err
	}
	return a.copies(ctx, places)
}

// Received returns how many bytes of a file's content an assembly that broke off has kept for
// Resume.
func (a *Assembly) Received(e Entry) int64 {
	info, err := a.all.Lstat(partPrefix + e.Hash)
	if err != nil || !info.Mode().IsRegular() || info.Size() > e.Size {
		return 0
	}
	return info.Size()
}

// Resume is Put for a content whose first bytes, as many as received says, are there already: from
// has the rest. If from fails or ctx ends, what came is kept, until a Publish, for an assembly that
// resumes it.
func (a *Assembly) Resume(ctx context.Context, hash string, received int64, from io.Reader) error {
	places := a.places[hash]
	if len(places) == 0 {
		return fmt.Errorf("no file of the project has the hash %s", shown(hash))
	}
	e, part := places[0], partPrefix+hash
	out, err := rootfile.Open(a.all, part, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	rest := &failing{from: io.LimitReader(from, e.Size-received)}
	sum := sha256.New()
	err = out.Truncate(received)
	if err == nil {
		err = pour(ctx, sum, io.LimitReader(out, received))
	}
	if err == nil {
		err = pour(ctx, io.MultiWriter(out, sum), rest)
	}
	if err == nil && hexSum(sum) != hash {
		err = &ChangedError{e.Path}
	}
	if closed := out.Close(); err == nil {
		err = closed
	}
	switch {
	case err != nil && (rest.failed || ctx.Err() != nil):
		return err
	case err != nil:
		return errors.Join(err, a.all.Remove(part))
	}
	err = a.all.Rename(part, filepath.Base(a.temporary)+"/"+e.Path)
	if err == nil {
		err = a.root.Chmod(e.Path, e.sealedMode())
	}
	if err == nil {
		err = a.root.Chtimes(e.Path, e.ModTime, e.ModTime)
	}
	if err != nil {
		return err
	}
	return a.copies(ctx, places)
}

// failing notes that reading failed.
type failing struct {
	from   io.Reader
	failed bool
}

func (f *failing) Read(to []byte) (int, error) {
	n, err := f.from.Read(to)
	f.failed = f.failed || err != nil && !errors.Is(err, io.EOF)
	return n, err
}

// copies writes the content of the first of places to the others.
func (a *Assembly) copies(ctx context.Context, places []Entry) error {
	for _, e := range places[1:] {
		first, err := a.root.Open(places[0].Path)
		if err != nil {
			return err
		}
		err = a.write(ctx, e, first)
		first.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// write makes one file, with its time and mode.
func (a *Assembly) write(ctx context.Context, e Entry, from io.Reader) error {
	out, err := a.root.OpenFile(e.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	sum := sha256.New()
	err = pour(ctx, io.MultiWriter(out, sum), io.LimitReader(from, e.Size))
	if err == nil && hexSum(sum) != e.Hash {
		err = &ChangedError{e.Path}
	}
	if err == nil {
		err = out.Chmod(e.sealedMode())
	}
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = a.root.Chtimes(e.Path, e.ModTime, e.ModTime)
	}
	if err != nil {
		return errors.Join(err, a.root.Remove(e.Path))
	}
	return nil
}

// Reuse takes a content from another snapshot in the same folder: source is its entry in the
// manifest that the revision was made of. A file over LinkSize becomes a hard link where time and
// mode are right and the source was not written since it was made; everything else is copied and
// has to have its hash. After a *ChangedError the content is as lacking as before.
func (a *Assembly) Reuse(ctx context.Context, revision string, source Entry) error {
	name := revision + "/" + source.Path
	if source.Size > LinkSize && source.differs(filepath.Join(a.revisions, name), true) == nil {
		if err := a.link(name, source); err == nil {
			return nil
		}
	}
	from, err := rootfile.Open(a.all, name, os.O_RDONLY, 0)
	if err != nil {
		return &ChangedError{name}
	}
	defer from.Close()
	return a.Put(ctx, source.Hash, from)
}

// link makes hard links at every place of a content, or none.
func (a *Assembly) link(name string, source Entry) error {
	for i, e := range a.places[source.Hash] {
		err := errors.New("it has another time or mode")
		if e.ModTime.Equal(source.ModTime) && e.Executable() == source.Executable() {
			err = a.all.Link(name, filepath.Base(a.temporary)+"/"+e.Path)
		}
		if err != nil {
			for _, made := range a.places[source.Hash][:i] {
				err = errors.Join(err, a.root.Remove(made.Path))
			}
			return err
		}
	}
	return nil
}

// Publish makes the snapshot read-only, calls sync, which brings it to the disk, and moves it to
// its place in one step. Where a snapshot of the revision lies there, that gives way. After an
// error only Discard may follow.
func (a *Assembly) Publish(sync func() error) (path string, err error) {
	// a folder's time is set after that of what it holds
	for _, e := range slices.Backward(a.manifest.Entries) {
		switch e.Kind {
		case Symlink:
			err = a.root.Symlink(e.Link, e.Path)
		case Dir:
			err = errors.Join(a.root.Chtimes(e.Path, e.ModTime, e.ModTime),
				a.root.Chmod(e.Path, e.sealedMode()))
		}
		if err != nil {
			return "", err
		}
	}
	if err := a.root.Chmod(".", 0o555); err != nil {
		return "", err
	}
	if err := sync(); err != nil {
		return "", err
	}
	final := filepath.Join(a.revisions, a.manifest.Revision())
	err = os.Rename(a.temporary, final)
	if errors.Is(err, os.ErrExist) {
		err = errors.Join(remove(final), os.Rename(a.temporary, final))
	}
	if err != nil {
		return "", err
	}
	a.removeParts()
	a.close()
	return final, nil
}

// removeParts removes what assemblies kept that broke off. What it cannot remove stays for the next
// time.
func (a *Assembly) removeParts() {
	items, _ := os.ReadDir(a.revisions)
	for _, item := range items {
		if strings.HasPrefix(item.Name(), partPrefix) {
			_ = a.all.Remove(item.Name())
		}
	}
}

// Discard takes away what was made, unless it was published.
func (a *Assembly) Discard() error {
	if a.release == nil {
		return nil
	}
	defer a.close()
	return removeTree(a.temporary)
}

func (a *Assembly) close() {
	for _, root := range []*os.Root{a.root, a.all} {
		if root != nil {
			root.Close()
		}
	}
	a.release()
	a.release = nil
}
