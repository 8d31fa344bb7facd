package filesync

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"mlframework/infra/layout"
	"mlframework/projects"
)

// A release goes from one host to another in one stream: the length of its manifest in eight bytes,
// the highest first, the manifest, and each content once, in the order of the manifest, which says
// how long it is.

// Revisions returns the releases of the root in dir that can be sent, sorted; none where there is
// no root.
func Revisions(dir string) ([]string, error) {
	r, err := openFolder(dir)
	if absent, ok := errors.AsType[*Refusal](err); ok && absent.Code == Absent {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	names, err := r.revisions()
	return slices.DeleteFunc(names, func(name string) bool {
		_, err := r.Lstat(layout.Manifests + "/" + name)
		return err != nil
	}), err
}

// SendRelease sends a release of the root in dir. begin, which is called once what can be refused
// is known to be well, returns where to.
func SendRelease(ctx context.Context, dir, revision string, begin func() io.Writer) error {
	if !projects.IsRevision(revision) {
		return refuse(Malformed, "%q is no revision", revision)
	}
	r, err := openFolder(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	m, err := r.stored(revision)
	if errors.Is(err, fs.ErrNotExist) {
		return refuse(Absent, "revision %s was not pushed to %s", revision, r.path)
	}
	if err != nil {
		return err
	}
	files, err := r.OpenRoot(path.Join(layout.Releases, revision))
	if err != nil {
		return err
	}
	defer files.Close()
	data := encodeManifest(m)
	to := bufio.NewWriterSize(begin(), pieceSize)
	if err := binary.Write(to, binary.BigEndian, uint64(len(data))); err != nil {
		return err
	}
	if _, err := to.Write(data); err != nil {
		return err
	}
	for _, e := range contents(m) {
		f, err := files.Open(e.Path)
		if err != nil {
			return err
		}
		_, err = io.CopyN(to, f, e.Size)
		if err = errors.Join(err, f.Close(), ctx.Err()); err != nil {
			return fmt.Errorf("read %q of revision %s: %w", e.Path, revision, err)
		}
	}
	return to.Flush()
}

// contents returns the first file of each content.
func contents(m *projects.Manifest) (files []projects.Entry) {
	seen := map[string]bool{}
	for _, e := range m.Entries {
		if e.Kind == projects.File && !seen[e.Hash] {
			seen[e.Hash] = true
			files = append(files, e)
		}
	}
	return files
}

// TakeRelease makes a release in the root in dir of what SendRelease sent, whole or not at all. The
// link to the one that was pushed last stays as it is. Every content is checked by its SHA-256.
func TakeRelease(
	ctx context.Context, dir, revision string, id Identity, from io.Reader,
) (err error) {
	in := bufio.NewReaderSize(from, pieceSize)
	var size uint64
	if err := binary.Read(in, binary.BigEndian, &size); err != nil {
		return err
	}
	if size > maxList {
		return refuse(Malformed, "a manifest of %d bytes", size)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(in, data); err != nil {
		return err
	}
	m, err := decodeManifest(data, revision)
	if err != nil {
		return refuse(Malformed, "%v", err)
	}
	r, err := openRoot(dir, id, true)
	if err != nil {
		return err
	}
	defer r.Close()
	unlock, err := r.lock(ctx, id, request{Op: opPush, Wait: lockWait})
	if err != nil {
		return err
	}
	defer unlock()
	if r.whole(revision) {
		return r.touch(revision)
	}
	return r.assemble(ctx, m, func(a *projects.Assembly, wanted []projects.Entry) error {
		lacking := map[string]bool{}
		for _, e := range wanted {
			lacking[e.Hash] = true
		}
		for _, e := range contents(m) {
			content := io.LimitReader(in, e.Size)
			if lacking[e.Hash] {
				if err := a.Put(ctx, e.Hash, content); err != nil {
					return err
				}
			}
			if _, err := io.Copy(io.Discard, content); err != nil {
				return err
			}
		}
		return nil
	})
}
