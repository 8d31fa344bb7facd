package projects

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// temporaryPrefix begins the names of folders beside the snapshots that are being made or removed.
const temporaryPrefix = ".tmp-"

// A folder without a running maker is removed when nothing was put in it for so long: its maker may
// be between making and locking it; and where the file system has no locks, making a snapshot takes
// no day.
const (
	leftoverAge       = time.Minute
	leftoverAgeNoLock = 24 * time.Hour
)

var revisionForm = regexp.MustCompile(`^[0-9a-f]{16}$`)

// IsRevision reports whether text has the form of a revision.
func IsRevision(text string) bool { return revisionForm.MatchString(text) }

// Remove deletes the snapshot of a revision; one that is not there is no error. It vanishes in one
// step, so that no half of it is ever found. The caller sees that no attempt uses it.
func Remove(revisions, revision string) error {
	if !IsRevision(revision) {
		return fmt.Errorf("remove snapshot %q: a revision is 16 hex digits", revision)
	}
	err := remove(filepath.Join(revisions, revision))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove snapshot %s: %w", revision, err)
	}
	return nil
}

// remove moves a folder out of the way, then deletes it.
func remove(folder string) error {
	aside := filepath.Join(filepath.Dir(folder), temporaryPrefix+"removed-"+rand.Text())
	if err := os.Rename(folder, aside); err != nil {
		return err
	}
	return removeTree(aside)
}

// removeTree deletes a folder that may be read-only. Files keep their modes: some are the user's
// own, linked.
func removeTree(folder string) error {
	_ = filepath.WalkDir(folder, func(path string, item fs.DirEntry, err error) error {
		if err == nil && item.IsDir() {
			_ = os.Chmod(path, 0o755) // RemoveAll says what is wrong
		}
		return nil
	})
	return os.RemoveAll(folder)
}

// temporaryFolder makes a folder that removeLeftovers leaves alone until release, or the end of
// this process. Its name begins with prefix.
func temporaryFolder(revisions, prefix string) (path string, release func(), err error) {
	path, err = os.MkdirTemp(revisions, prefix+"*")
	if err != nil {
		return "", nil, err
	}
	release, err = lock(path)
	if err != nil {
		release = func() {}
	}
	return path, release, nil
}

// lock holds a folder until release; the system ends it with the process. syscall.EWOULDBLOCK:
// another holds it.
func lock(folder string) (release func(), err error) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

// removeLeftovers deletes what killed processes left under names that begin with prefix, when
// nothing was put in it for so long as age. What it cannot delete stays for the next time.
func removeLeftovers(revisions, prefix string, age time.Duration) {
	items, err := os.ReadDir(revisions)
	if err != nil {
		return
	}
	for _, item := range items {
		info, err := item.Info()
		if err != nil || !item.IsDir() || !strings.HasPrefix(item.Name(), prefix) {
			continue
		}
		idle := time.Since(info.ModTime())
		if idle < age { // before lock: it must not get in the way of a maker that is about to
			continue
		}
		folder := filepath.Join(revisions, item.Name())
		release, err := lock(folder)
		switch {
		case err == nil:
			_ = removeTree(folder)
			release()
		case !errors.Is(err, syscall.EWOULDBLOCK) && idle > leftoverAgeNoLock:
			_ = removeTree(folder)
		}
	}
}
