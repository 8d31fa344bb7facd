package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"mlframework/projects"
	"mlframework/sweep/task"
)

// Where things lie in the current folder.
const (
	storeFolder  = ".mlframework"
	outputFolder = "outputs"
)

var (
	socketPath      = filepath.Join(storeFolder, "run.sock")
	revisionsFolder = filepath.Join(storeFolder, "revisions")
)

// snapshot keeps the files of a project as they are now, for the attempts of a sweep.
func snapshot(ctx context.Context, dir string) (*projects.Manifest, error) {
	if err := os.MkdirAll(filepath.Join(storeFolder, "hashes"), 0o700); err != nil {
		return nil, err
	}
	m, _, err := projects.Take(ctx, dir, revisionsFolder, projects.Options{Cache: hashCache(dir)})
	return m, projectError(err)
}

// hashCache is the file with the hashes of a project's files.
func hashCache(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(storeFolder, "hashes", hex.EncodeToString(sum[:8]))
}

// taskFolder is where a task's attempts ran.
func taskFolder(id task.ID) string {
	return filepath.Join(outputFolder, id.Sweep, strconv.FormatInt(id.Index, 10))
}

// nextNumber is the first number of a definition whose outputs are not there yet: outputs outlive a store that a user
// removed, and are never mixed with those of another sweep.
func nextNumber(definition string) (next int64) {
	entries, _ := os.ReadDir(outputFolder) // there are none yet
	for _, e := range entries {
		text, ok := strings.CutPrefix(e.Name(), definition+"-")
		if n, err := strconv.ParseInt(text, 10, 64); ok && err == nil && n >= next {
			next = n + 1
		}
	}
	return max(next, 1)
}
