package projects

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Options of a scan. The zero value is ready to use.
type Options struct {
	// Cache is a file that keeps hashes from scan to scan, so that an unchanged file is not read
	// again. It is for one project; a damaged one, or another version's, counts as none. Empty: no
	// cache.
	Cache string
	// Workers is how many files are read at once; 0 is the number of processors, at most 8.
	Workers int
	// Hashing, when set, is called before a file is read to be hashed, with its size in bytes;
	// concurrently.
	Hashing func(path string, size int64)
	// Snapshot means that the folder is a snapshot: no rules apply, as they did when it was made.
	Snapshot bool
	// Log gets what is no error of the scan: a cache that cannot be written. nil: nowhere.
	Log *slog.Logger
	// Now is the clock; nil is time.Now. A file touched in its last 2 s is not kept in the cache.
	Now func() time.Time
}

// withDefaults fills a copy.
func (o Options) withDefaults() Options {
	if o.Workers <= 0 {
		o.Workers = defaultWorkers()
	}
	if o.Hashing == nil {
		o.Hashing = func(string, int64) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// defaultWorkers bounds reading: more than 8 readers make one disk slower.
func defaultWorkers() int { return min(runtime.GOMAXPROCS(0), 8) }

// List is Scan without the hashes: it reads no file but those with rules. The manifest has no
// revision.
func List(ctx context.Context, dir string) (*Manifest, error) {
	m, faults, err := listFiles(ctx, dir, false)
	if err == nil && len(faults) > 0 {
		sortFaults(faults)
		err = &ScanError{Dir: dir, Files: faults}
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// listFiles walks through a project or a snapshot. What is wrong with single files comes as faults.
func listFiles(ctx context.Context, dir string, snapshot bool) (m *Manifest, faults []error,
	err error) {
	root, given, err := open(dir)
	if err != nil {
		return nil, nil, err
	}
	w := &walk{root: root, names: []string{root, given}, snapshot: snapshot,
		manifest: &Manifest{Dir: root, seen: map[string]identity{},
			scopes: map[string]scope{}}}
	if err := w.folder(ctx, "", w.above()); err != nil {
		return nil, nil, fmt.Errorf("read project %s: %w", shown(dir), err)
	}
	m = w.manifest
	slices.SortFunc(m.Entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(m.Skipped, func(a, b Skipped) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(m.LeftOut, func(a, b LeftOut) int { return strings.Compare(a.Path, b.Path) })
	return m, w.faults, nil
}

// Scan lists the files of the project in dir and hashes them. A folder without files gives an empty
// manifest. Errors are *FolderError, *ScanError with everything that is wrong with the files, and
// ctx's. It writes nothing but the cache.
func Scan(ctx context.Context, dir string, opts Options) (*Manifest, error) {
	opts = opts.withDefaults()
	m, wrong, err := listFiles(ctx, dir, opts.Snapshot)
	if err != nil {
		return nil, err
	}
	faults, err := hashFiles(ctx, m, opts, len(wrong) > 0)
	if err != nil {
		return nil, fmt.Errorf("read project %s: %w", shown(dir), err)
	}
	if faults = append(wrong, faults...); len(faults) > 0 {
		sortFaults(faults)
		return nil, &ScanError{Dir: dir, Files: faults}
	}
	return m, nil
}

// open gives the folder's path without symbolic links, and as it was given; both are absolute.
func open(dir string) (root, given string, err error) {
	given, err = filepath.Abs(dir)
	if err == nil {
		root, err = filepath.EvalSymlinks(given)
	}
	if err != nil {
		return "", "", &FolderError{dir, err}
	}
	folder, err := os.OpenFile(root, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", "", &FolderError{dir, err}
	}
	return root, given, folder.Close()
}
