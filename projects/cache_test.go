package projects_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/projects"
)

// A reader scans with a cache and notes which files were read. Its clock is an hour ahead, so that
// new files are old enough to be kept.
type reader struct {
	dir, cache string
	ahead      time.Duration
}

func newReader(t *testing.T, files tree) reader {
	return reader{plant(t, files), filepath.Join(t.TempDir(), "new folder", "hashes"), time.Hour}
}

func (r reader) scan(t *testing.T) (*projects.Manifest, []string) {
	t.Helper()
	var lock sync.Mutex
	var read []string
	m, err := projects.Scan(context.Background(), r.dir, projects.Options{
		Cache: r.cache,
		Hashing: func(path string, _ int64) {
			lock.Lock()
			defer lock.Unlock()
			read = append(read, path)
		},
		Now: func() time.Time { return time.Now().Add(r.ahead) },
	})
	check(t, err)
	slices.Sort(read)
	return m, read
}

// reads scans, wants these files read and the same manifest as a scan without a cache.
func (r reader) reads(t *testing.T, want ...string) {
	t.Helper()
	m, read := r.scan(t)
	if diff := cmp.Diff(want, read); diff != "" {
		t.Errorf("files read: %s", diff)
	}
	if diff := cmp.Diff(scan(t, r.dir).Entries, m.Entries); diff != "" {
		t.Errorf("with the cache: %s", diff)
	}
}

func TestCacheSparesReading(t *testing.T) {
	t.Parallel()
	r := newReader(t, tree{"a": "1", "b/c d": "2", "\xff\n\"": "3", "link": "->a"})
	r.reads(t, "a", "b/c d", "\xff\n\"")
	r.reads(t)
	plantIn(t, r.dir, tree{"a": "longer"})
	r.reads(t, "a")
	r.reads(t)
	// An edit that keeps the size and sets the time back moves the change time.
	before, err := os.Stat(r.dir + "/a")
	check(t, err)
	plantIn(t, r.dir, tree{"a": "LONGER"})
	check(t, os.Chtimes(r.dir+"/a", before.ModTime(), before.ModTime()))
	r.reads(t, "a")
	// Another file under the name.
	check(t, os.Rename(r.dir+"/b/c d", r.dir+"/moved"))
	r.reads(t, "moved")
}

func TestCacheKeepsOnlyWhatIsThere(t *testing.T) {
	t.Parallel()
	r := newReader(t, tree{"a": "1", "gone": "2"})
	r.reads(t, "a", "gone")
	check(t, os.Remove(r.dir+"/gone"))
	r.reads(t)
	data, err := os.ReadFile(r.cache)
	check(t, err)
	if strings.Contains(string(data), "gone") {
		t.Error("the cache keeps a file that is gone")
	}
	if left, _ := os.ReadDir(filepath.Dir(r.cache)); len(left) != 1 {
		t.Errorf("%d files beside the cache", len(left)-1)
	}
}

func TestCacheLeavesOutWhatWasJustTouched(t *testing.T) {
	t.Parallel()
	r := newReader(t, tree{"a": "1"})
	r.ahead = -time.Hour // however long the test takes, it was just touched
	r.reads(t, "a")
	age(t, r.dir+"/a", 2*time.Hour) // the change time is new all the same
	r.reads(t, "a")
	r.ahead = time.Hour
	r.reads(t, "a")
	r.reads(t)
}

func TestCacheDamagedIsNone(t *testing.T) {
	t.Parallel()
	r := newReader(t, tree{"a": "1"})
	r.reads(t, "a")
	good, err := os.ReadFile(r.cache)
	check(t, err)
	hash := strings.Index(string(good), "6b86b273")
	for name, damaged := range map[string]string{
		"empty":       "",
		"cut":         string(good[:len(good)-1]),
		"longer":      string(good) + "x",
		"other hash":  strings.Replace(string(good), "6b86b273", "6b86b274", 1),
		"no number":   strings.Replace(string(good), " 1 ", " x ", 1),
		"new version": strings.Replace(string(good), "hashes 1", "hashes 2", 1),
		"garbage":     strings.Repeat("\x00\xff", 500),
		"one flipped": string(good[:hash]) + "X" + string(good[hash+1:]),
	} {
		check(t, os.WriteFile(r.cache, []byte(damaged), 0o644))
		t.Log(name)
		r.reads(t, "a")
		r.reads(t)
	}
}

func TestCacheThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	r := newReader(t, tree{"a": "1"})
	r.cache = filepath.Join(r.dir, "a", "hashes") // below a file
	r.reads(t, "a")
	r.reads(t, "a")
}

// TestCacheOutlivesSnapshots: linking a large file moves its change time, which must not cost
// reading it again.
func TestCacheOutlivesSnapshots(t *testing.T) {
	t.Parallel()
	r := newReader(t, tree{"small": "1"})
	sparse(t, r.dir+"/large", projects.LinkSize+1)
	revisions := makeRemovable(t, t.TempDir())
	m, _ := r.scan(t)
	_, err := projects.Snapshot(context.Background(), m, revisions)
	check(t, err)
	r.reads(t)
	check(t, projects.Remove(revisions, m.Revision()))
	r.reads(t)
	age(t, r.dir+"/large", time.Hour)
	r.reads(t, "large")
}

// TestStoppedScanKeepsWhatItHashed, and what the cache knew before.
func TestStoppedScanKeepsWhatItHashed(t *testing.T) {
	t.Parallel()
	r := newReader(t, tree{"a": "1", "z": "2"})
	r.reads(t, "a", "z")
	plantIn(t, r.dir, tree{"b": "3", "c": "4"})
	ctx, cancel := context.WithCancel(context.Background())
	_, err := projects.Scan(ctx, r.dir, projects.Options{
		Cache: r.cache, Workers: 1, Now: func() time.Time { return time.Now().Add(time.Hour) },
		Hashing: func(path string, _ int64) {
			if path == "c" {
				cancel()
			}
		},
	})
	if err == nil {
		t.Fatal("the scan was not stopped")
	}
	r.reads(t, "c")
}
