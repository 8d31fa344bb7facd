package filesync

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"mlframework/infra/layout"
	"mlframework/projects"
)

// revisions are the names of the releases, sorted.
func (r *root) revisions() (names []string, err error) {
	items, err := fs.ReadDir(r.FS(), layout.Releases)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, item := range items {
		if item.IsDir() && projects.IsRevision(item.Name()) {
			names = append(names, item.Name())
		}
	}
	return names, err
}

// release is where a revision's files are.
func (r *root) release(revision string) string {
	return filepath.Join(r.path, layout.Releases, revision)
}

// stored reads the manifest of a release, which has to be that of its revision.
func (r *root) stored(revision string) (*projects.Manifest, error) {
	data, err := r.ReadFile(layout.Manifests + "/" + revision)
	if err != nil {
		return nil, err
	}
	m, err := decodeManifest(data, revision)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(r.path, layout.Manifests, revision), err)
	}
	return m, nil
}

// decodeManifest reads the manifest of a revision.
func decodeManifest(data []byte, revision string) (*projects.Manifest, error) {
	m, d := &projects.Manifest{}, &decoder{rest: data}
	for d.more() {
		m.Entries = append(m.Entries, d.entry())
		if len(m.Entries) > maxEntries {
			d.fail(fmt.Errorf("more than %d files", maxEntries))
		}
	}
	if d.err == nil {
		d.err = m.Check()
	}
	if d.err == nil && m.Revision() != revision {
		d.err = errors.New("it is another revision's")
	}
	return m, d.err
}

// encodeManifest returns what decodeManifest reads.
func encodeManifest(m *projects.Manifest) (data []byte) {
	for _, e := range m.Entries {
		data = appendEntry(data, e)
	}
	return data
}

// store keeps the manifest of a release.
func (r *root) store(m *projects.Manifest) error {
	if _, err := r.folder(layout.Manifests, 0o700); err != nil {
		return err
	}
	return r.replace(layout.Manifests+"/"+m.Revision(), encodeManifest(m))
}

// touch notes that a release was pushed again.
func (r *root) touch(revision string) error {
	now := time.Now()
	return r.Chtimes(layout.Manifests+"/"+revision, now, now)
}

// whole says whether a release is there as it was made.
func (r *root) whole(revision string) bool {
	m, err := r.stored(revision)
	return err == nil && m.Unchanged(r.release(revision))
}

// current is the revision that was pushed last, "" where there is none.
func (r *root) current() (string, error) {
	target, err := r.Readlink(layout.Current)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return filepath.Base(target), err
}

// setCurrent switches the link in one step, once the release is on the disk.
func (r *root) setCurrent(revision string) error {
	if now, err := r.current(); err == nil && now == revision {
		return nil
	}
	temporary := layout.Current + ".tmp"
	if err := r.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := r.Symlink(layout.Releases+"/"+revision, temporary); err != nil {
		return err
	}
	if err := r.Rename(temporary, layout.Current); err != nil {
		return err
	}
	return syncFolder(r.path)
}

// list describes every release, the one pushed last first.
func (r *root) list() (answer, error) {
	names, err := r.revisions()
	if err != nil {
		return answer{}, err
	}
	current, err := r.current()
	if err != nil {
		return answer{}, err
	}
	all := []Revision{}
	for _, name := range names {
		v := Revision{Name: name, Current: name == current}
		info, err := r.Stat(layout.Manifests + "/" + name)
		if err != nil {
			info, err = r.Stat(layout.Releases + "/" + name)
		}
		if err != nil {
			continue // removed meanwhile
		}
		v.Pushed = info.ModTime().UTC()
		if m, err := r.stored(name); err == nil {
			v.Files, v.Bytes = size(m)
		}
		all = append(all, v)
	}
	slices.SortStableFunc(all, func(a, b Revision) int { return b.Pushed.Compare(a.Pushed) })
	return answer{Revisions: all}, nil
}

// size counts the files and links of a project, and their bytes.
func size(m *projects.Manifest) (files int, bytes int64) {
	for _, e := range m.Entries {
		if e.Kind != projects.Dir {
			files++
		}
	}
	return files, m.Bytes()
}

// prune removes the releases that nobody wants.
func (s *server) prune(ctx context.Context, r *root, q request) (answer, error) {
	unlock, err := r.lock(ctx, s.client, q)
	if err != nil {
		return answer{}, err
	}
	defer unlock()
	a, err := r.list()
	if err != nil {
		return answer{}, err
	}
	removed := []Revision{}
	for _, v := range a.Revisions {
		if v.Current || slices.Contains(q.Keep, v.Name) || time.Since(v.Pushed) < q.Older {
			continue
		}
		if err := projects.Remove(filepath.Join(r.path, layout.Releases), v.Name); err != nil {
			return answer{}, err
		}
		if err := r.Remove(layout.Manifests + "/" + v.Name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return answer{}, err
		}
		removed = append(removed, v)
	}
	return answer{Revisions: removed}, nil
}
