package projects

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
)

// hashFiles fills in the hashes of a manifest's files and keeps the cache. What is wrong with
// single files comes as faults; err is ctx's. With checkOnly files are opened and not read: the
// scan has failed, and the unreadable ones shall be named too.
func hashFiles(ctx context.Context, m *Manifest, opts Options, checkOnly bool) (faults []error,
	err error) {
	h := &hasher{manifest: m, opts: opts, checkOnly: checkOnly, cache: loadCache(opts.Cache),
		fresh: make([]*cached, len(m.Entries)), faults: make([]error, len(m.Entries))}
	err = each(ctx, opts.Workers, len(m.Entries), h.entry)
	if !checkOnly {
		h.keep(err == nil)
	}
	for _, fault := range h.faults {
		if fault != nil {
			faults = append(faults, fault)
		}
	}
	return faults, err
}

// A hasher hashes the entries of a manifest. Every slice has an element for each entry, so that
// goroutines share none.
type hasher struct {
	manifest  *Manifest
	opts      Options
	checkOnly bool
	cache     cache
	fresh     []*cached // what the cache shall know
	faults    []error
}

func (h *hasher) entry(ctx context.Context, i int) error {
	e := &h.manifest.Entries[i]
	if e.Kind != File {
		return nil
	}
	id, known := h.manifest.seen[e.Path]
	if old, ok := h.cache[e.Path]; ok && known && id.sameContent(old.Identity) {
		e.Hash, h.fresh[i] = old.Hash, &cached{Path: e.Path, Hash: old.Hash, Identity: id}
		return nil
	}
	read := h.opts.Now()
	err := h.file(ctx, e)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if h.faults[i] = err; err == nil && known && id.settled(read) {
		h.fresh[i] = &cached{Path: e.Path, Hash: e.Hash, Identity: id}
	}
	return nil
}

// file hashes one file, which must be what the walk saw before and after the reading.
func (h *hasher) file(ctx context.Context, e *Entry) error {
	f, err := openFile(h.manifest, *e)
	if err != nil {
		return err
	}
	defer f.Close()
	if h.checkOnly {
		return nil
	}
	h.opts.Hashing(e.Path, e.Size)
	sum := sha256.New()
	if err := pour(ctx, sum, f); err != nil {
		return readFault(e.Path, err)
	}
	if info, err := f.Stat(); err != nil || !unchanged(*e, info) {
		return &ChangedError{e.Path}
	}
	e.Hash = hexSum(sum)
	return nil
}

// keep writes the cache when it differs: what this scan saw, and after one that was stopped also
// what was known before.
func (h *hasher) keep(complete bool) {
	if h.opts.Cache == "" {
		return
	}
	now := make(cache, len(h.fresh))
	for _, c := range h.fresh {
		if c != nil {
			now[c.Path] = *c
		}
	}
	if !complete {
		now = h.cache.with(now)
	}
	if now.equal(h.cache) {
		return
	}
	if err := now.save(h.opts.Cache); err != nil {
		h.opts.Log.Warn("write the cache of file hashes", "file", h.opts.Cache, "error", err)
	}
}

// Open opens a file of the project for reading. One that is no more what the manifest says is a
// *ChangedError; whether its content is the entry's shows only when it was read.
func (m *Manifest) Open(e Entry) (*os.File, error) { return openFile(m, e) }

// openFile opens a file of the project, unless it is no more what the manifest says. O_NONBLOCK: a
// named pipe that took the file's place does not block.
func openFile(m *Manifest, e Entry) (*os.File, error) {
	f, err := os.OpenFile(placed(m.Dir, e), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, readFault(e.Path, err)
	}
	if info, err := f.Stat(); err != nil || !unchanged(e, info) {
		f.Close()
		return nil, &ChangedError{e.Path}
	}
	return f, nil
}

// readFault tells a file that is gone, or is something else now, from one that cannot be read.
func readFault(path string, err error) error {
	for _, gone := range []error{fs.ErrNotExist, syscall.ELOOP, syscall.ENOTDIR, syscall.ENXIO} {
		if errors.Is(err, gone) {
			return &ChangedError{path}
		}
	}
	return &FileError{Path: path, Fault: Unreadable, Err: err}
}

// unchanged reports whether a file still has the kind, size and time of its entry.
func unchanged(e Entry, info fs.FileInfo) bool {
	return info.Mode().IsRegular() && info.Size() == e.Size && ModTime(info).Equal(e.ModTime)
}

// buffers are shared: a project has thousands of small files.
var buffers = sync.Pool{New: func() any { return new([256 << 10]byte) }}

// pour copies until the end, or until ctx ends.
func pour(ctx context.Context, to io.Writer, from io.Reader) error {
	space := buffers.Get().(*[256 << 10]byte)
	defer buffers.Put(space)
	buffer := space[:]
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := from.Read(buffer)
		if _, failed := to.Write(buffer[:n]); failed != nil {
			return failed
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func hexSum(sum hash.Hash) string { return hex.EncodeToString(sum.Sum(nil)) }
