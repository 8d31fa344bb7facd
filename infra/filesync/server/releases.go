package server

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"mlframework/infra/filesync"
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
	data = append(data, filesync.EndOfEntries)
	m, err := filesync.ReadManifest(bufio.NewReader(bytes.NewReader(data)), revision)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(r.path, layout.Manifests, revision), err)
	}
	return m, nil
}

// store keeps the manifest of a release.
func (r *root) store(m *projects.Manifest) error {
	if _, err := r.folder(layout.Manifests, 0o700); err != nil {
		return err
	}
	var data []byte
	for _, e := range m.Entries {
		data = filesync.AppendEntry(data, e)
	}
	return r.replace(layout.Manifests+"/"+m.Revision(), data)
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
func (r *root) list() (all []filesync.Revision, err error) {
	names, err := r.revisions()
	if err != nil {
		return nil, err
	}
	current, err := r.current()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		v := filesync.Revision{Name: name, Current: name == current}
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
	slices.SortStableFunc(all, func(a, b filesync.Revision) int {
		return b.Pushed.Compare(a.Pushed)
	})
	return all, nil
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
