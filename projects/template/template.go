// Package template holds the project that "run-tasks init" writes: a tasks.yml that explains every
// key, a parameters.yml, a small program to run and an ignore file.
//
// Only cmd/run-tasks may import it. It imports sweep/fault only.
package template

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"mlframework/sweep/fault"
)

// Files are the files of the project, all at the top.
//
//go:embed .mlframeworkignore parameters.yml tasks.yml train.py
var Files embed.FS

// Write writes the files into dir, which it makes with its parents unless it is there and empty. It
// returns the paths written, dir included, sorted by name.
//
// A folder that is not empty, or a path that is no folder, is a fault.List, and nothing was
// changed. Any other error is one of the machine (no permission, disk full); then what Write had
// made is removed again, dir included. No file is ever overwritten, even when two calls meet in one
// folder.
func Write(dir string) (written []string, err error) {
	if err := check(dir); err != nil {
		return nil, err
	}
	made, err := makeFolder(dir)
	defer func() {
		if err != nil {
			remove(written, made)
			written = nil
		}
	}()
	if err != nil {
		return nil, fmt.Errorf("make the folder %s: %w", dir, plain(err))
	}
	entries, err := Files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		created, err := writeFile(name, e.Name())
		if created {
			written = append(written, name)
		}
		if err != nil {
			return written, fmt.Errorf("write %s: %w", name, plain(err))
		}
	}
	return written, nil
}

func check(dir string) error {
	entries, err := os.ReadDir(dir)
	info, statErr := os.Stat(dir)
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		return nil
	case statErr == nil && !info.IsDir():
		return fault.List{{File: dir, Problem: "is not a folder", Remedy: "name a new folder"}}
	case err != nil:
		return fmt.Errorf("read the folder %s: %w", dir, plain(err))
	case len(entries) > 0:
		return fault.List{{
			File: dir, Problem: fmt.Sprintf("is not empty: it holds %q", entries[0].Name()),
			Remedy: "name a new folder or an empty one",
		}}
	}
	return nil
}

// makeFolder makes dir and what is missing above it, and returns what it made, the deepest last.
func makeFolder(dir string) (made []string, err error) {
	var missing []string
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	for i := len(missing) - 1; i >= 0; i-- {
		if err := os.Mkdir(missing[i], 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return made, err
		} else if err == nil {
			made = append(made, missing[i])
		}
	}
	return made, nil
}

// writeFile reports whether it created the file, also when writing it then failed.
func writeFile(name, from string) (created bool, err error) {
	data, err := Files.ReadFile(from)
	if err != nil {
		return false, err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return false, err
	}
	_, err = f.Write(data)
	return true, errors.Join(err, f.Close())
}

// remove takes back what was made; a folder that another process has put something into stays.
func remove(files, folders []string) {
	for _, name := range files {
		_ = os.Remove(name)
	}
	for i := len(folders) - 1; i >= 0; i-- {
		_ = os.Remove(folders[i])
	}
}

// plain takes the path off an error that names it already.
func plain(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
