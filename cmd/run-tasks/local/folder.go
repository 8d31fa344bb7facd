// Package local runs the sweeps of one folder on this machine: master, queue and worker in one
// process, the runner, which serves the API on a socket in the folder.
//
// A command that runs or changes sweeps attaches to the runner and starts it if there is none: see
// [Attach]. The runner ends when no client is attached and no sweep runs. It is about the current
// folder, or the one that [Use] names.
//
// Only cmd/run-tasks imports it.
package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"mlframework/projects"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// StoreName is the name of the folder with the store of a folder.
const StoreName = ".mlframework"

// root is the folder whose sweeps this process is about, as Use set it.
var root = "."

// Use makes another folder than the current one the folder of everything in this package. It is
// called once, before anything else.
func Use(folder string) { root = folder }

// StoreFolder is the folder of the store.
func StoreFolder() string { return filepath.Join(root, StoreName) }

// OutputFolder is the folder of the outputs of tasks.
func OutputFolder() string { return filepath.Join(root, "outputs") }

// RevisionsFolder is where the files of projects are kept, a folder for each revision.
func RevisionsFolder() string { return filepath.Join(StoreFolder(), "revisions") }

// LogFile is the log of the runners of the folder.
func LogFile() string { return filepath.Join(StoreFolder(), "runner.log") }

// HasStore reports whether a folder has a store.
func HasStore(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, StoreName, store.File))
	return err == nil
}

// maxSocketPath is how long the path of a socket may be, in bytes, on every system.
const maxSocketPath = 103

// socketPath is where the runner listens. If its path is too long for a socket, it begins with an
// open file instead, where the system has such paths.
func socketPath() string {
	path := filepath.Join(StoreFolder(), "run.sock")
	if len(path) <= maxSocketPath {
		return path
	}
	folder, err := openOnce()
	if err != nil {
		return path // who uses it gets the error
	}
	return fmt.Sprintf("/proc/self/fd/%d/run.sock", folder.Fd())
}

// openOnce opens the folder of the store, for good, once there is one.
func openOnce() (*os.File, error) {
	opened.mu.Lock()
	defer opened.mu.Unlock()
	if opened.folder == nil {
		folder, err := os.Open(StoreFolder())
		if err != nil {
			return nil, err
		}
		opened.folder = folder
	}
	return opened.folder, nil
}

var opened struct {
	mu     sync.Mutex
	folder *os.File
}

// Snapshot keeps the files of a project as they are now, for the attempts of a sweep.
func Snapshot(ctx context.Context, dir string) (*projects.Manifest, error) {
	if err := os.MkdirAll(filepath.Join(StoreFolder(), "hashes"), 0o700); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(RevisionsFolder(), 0o755); err != nil {
		return nil, err
	}
	if err := holdRevisions(); err != nil {
		return nil, err
	}
	m, _, err := projects.Take(ctx, dir, RevisionsFolder(), projects.Options{Cache: hashCache(dir)})
	return m, err
}

// Scan lists and hashes the files of a project as they are now, and keeps nothing but the hashes.
func Scan(ctx context.Context, dir string) (*projects.Manifest, error) {
	return projects.Scan(ctx, dir, projects.Options{Cache: hashCache(dir)})
}

// hashCache returns the file with the hashes of a project's files.
func hashCache(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(StoreFolder(), "hashes", hex.EncodeToString(sum[:8]))
}

// TaskFolder returns where a task's attempts ran.
func TaskFolder(id task.ID) string {
	return filepath.Join(OutputFolder(), id.Sweep, strconv.FormatInt(id.Index, 10))
}

// NextNumber returns the first number of a definition whose outputs are not there yet: outputs
// outlive a store that a user removed, and are never mixed with those of another sweep.
func NextNumber(definition string) (next int64) {
	entries, _ := os.ReadDir(OutputFolder()) // there are none yet
	for _, e := range entries {
		text, ok := strings.CutPrefix(e.Name(), definition+"-")
		if n, err := strconv.ParseInt(text, 10, 64); ok && err == nil && n >= next {
			next = n + 1
		}
	}
	return max(next, 1)
}

// Prepare makes the folders of store and outputs, if they are not there.
func Prepare() error {
	if err := makeFolders(); err != nil {
		return storeError(err)
	}
	return nil
}

// makeFolders makes what a run needs before anything is kept, so that a run which cannot be leaves
// nothing behind.
func makeFolders() error {
	if err := os.MkdirAll(StoreFolder(), 0o700); err != nil {
		return err
	}
	if err := os.MkdirAll(OutputFolder(), 0o700); err != nil {
		_ = os.Remove(StoreFolder()) // unless it holds something
		return err
	}
	HideFromGit(StoreFolder())
	HideFromGit(OutputFolder())
	return nil
}

// writable asks for the rights to write to a folder and to look names up in it: W_OK and X_OK of
// access(2).
const writable = 0x2 | 0x1

// CheckOutputs refuses outputs in which no attempt could make its folder: each of them would be
// lost, one by one.
func CheckOutputs() error {
	info, err := os.Stat(OutputFolder())
	if err != nil || !info.IsDir() { // it is made, or that it cannot be is told
		return nil
	}
	if err := syscall.Access(OutputFolder(), writable); err != nil {
		return storeError(&fs.PathError{Op: "write to", Path: OutputFolder(), Err: err})
	}
	return nil
}

// OpenReader opens the store of the folder for questions. The error is store.ErrNone where there is
// none.
func OpenReader(ctx context.Context) (*store.Reader, error) {
	if info, err := os.Stat(StoreFolder()); err == nil && !info.IsDir() {
		return nil, storeError(&fs.PathError{Op: "open", Path: StoreFolder(), Err: syscall.ENOTDIR})
	}
	return store.OpenReader(ctx, StoreFolder())
}

// HideFromGit keeps a folder out of the repository that it may lie in. A run does not fail for it.
func HideFromGit(folder string) {
	path := filepath.Join(folder, ".gitignore")
	if _, err := os.Lstat(path); err != nil {
		_ = os.WriteFile(path, []byte("*\n"), 0o600)
	}
}
