// Package local runs the sweeps of one folder on this machine: master, queue and worker in one
// process, the runner, which serves the API on a socket in the folder.
//
// A command that runs or changes sweeps attaches to the runner and starts it if there is none: see
// [Attach]. The runner ends when no client is attached and no sweep runs. All paths are relative to
// the current folder, which a process does not leave.
//
// Only cmd/run-tasks imports it.
package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"mlframework/projects"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// Where things lie in the current folder.
const (
	StoreFolder  = ".mlframework"
	OutputFolder = "outputs"
)

// RevisionsFolder is where the files of projects are kept, a folder for each revision.
var RevisionsFolder = filepath.Join(StoreFolder, "revisions")

var socketPath = filepath.Join(StoreFolder, "run.sock")

// Snapshot keeps the files of a project as they are now, for the attempts of a sweep.
func Snapshot(ctx context.Context, dir string) (*projects.Manifest, error) {
	if err := os.MkdirAll(filepath.Join(StoreFolder, "hashes"), 0o700); err != nil {
		return nil, err
	}
	m, _, err := projects.Take(ctx, dir, RevisionsFolder, projects.Options{Cache: hashCache(dir)})
	return m, err
}

// Scan lists and hashes the files of a project as they are now, and keeps nothing but the hashes.
func Scan(ctx context.Context, dir string) (*projects.Manifest, error) {
	return projects.Scan(ctx, dir, projects.Options{Cache: hashCache(dir)})
}

// hashCache returns the file with the hashes of a project's files.
func hashCache(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(StoreFolder, "hashes", hex.EncodeToString(sum[:8]))
}

// TaskFolder returns where a task's attempts ran.
func TaskFolder(id task.ID) string {
	return filepath.Join(OutputFolder, id.Sweep, strconv.FormatInt(id.Index, 10))
}

// NextNumber returns the first number of a definition whose outputs are not there yet: outputs
// outlive a store that a user removed, and are never mixed with those of another sweep.
func NextNumber(definition string) (next int64) {
	entries, _ := os.ReadDir(OutputFolder) // there are none yet
	for _, e := range entries {
		text, ok := strings.CutPrefix(e.Name(), definition+"-")
		if n, err := strconv.ParseInt(text, 10, 64); ok && err == nil && n >= next {
			next = n + 1
		}
	}
	return max(next, 1)
}

// makeFolders makes what a run needs before anything is kept, so that a run which cannot be leaves
// nothing behind.
func makeFolders() error {
	if err := os.MkdirAll(StoreFolder, 0o700); err != nil {
		return err
	}
	if err := os.MkdirAll(OutputFolder, 0o700); err != nil {
		_ = os.Remove(StoreFolder) // unless it holds something
		return err
	}
	HideFromGit(StoreFolder)
	HideFromGit(OutputFolder)
	return nil
}

// writable asks for the rights to write to a folder and to look names up in it: W_OK and X_OK of
// access(2).
const writable = 0x2 | 0x1

// CheckOutputs refuses outputs in which no attempt could make its folder: each of them would be
// lost, one by one.
func CheckOutputs() error {
	info, err := os.Stat(OutputFolder)
	if err != nil || !info.IsDir() { // it is made, or that it cannot be is told
		return nil
	}
	if err := syscall.Access(OutputFolder, writable); err != nil {
		return storeError(&fs.PathError{Op: "write to", Path: OutputFolder, Err: err})
	}
	return nil
}

// OpenReader opens the store of the folder for questions. The error is store.ErrNone where there is
// none.
func OpenReader(ctx context.Context) (*store.Reader, error) {
	if info, err := os.Stat(StoreFolder); err == nil && !info.IsDir() {
		return nil, storeError(&fs.PathError{Op: "open", Path: StoreFolder, Err: syscall.ENOTDIR})
	}
	return store.OpenReader(ctx, StoreFolder)
}

// HideFromGit keeps a folder out of the repository that it may lie in. A run does not fail for it.
func HideFromGit(folder string) {
	path := filepath.Join(folder, ".gitignore")
	if _, err := os.Lstat(path); err != nil {
		_ = os.WriteFile(path, []byte("*\n"), 0o600)
	}
}
