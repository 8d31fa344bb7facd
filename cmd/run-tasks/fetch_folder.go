package main

import (
	"os"
	"path/filepath"

	"mlframework/cmd/run-tasks/local"
	"mlframework/projects"
)

// makeResults makes the folder that outputs are copied into, and marks it unless it holds something
// already: it may lie in the project, whose tasks are not to have copies of it.
func makeResults(to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	if items, err := os.ReadDir(to); err != nil || len(items) > 0 {
		return err
	}
	local.HideFromGit(to)
	return os.WriteFile(filepath.Join(to, projects.ResultsMark), nil, 0o600)
}

// within reports whether a path leads into a folder, or to it.
func within(path, folder string) bool {
	below, err := filepath.Rel(resolved(folder), resolved(path))
	return err == nil && filepath.IsLocal(below)
}

// resolved is the absolute path without symbolic links, for the part of the path that exists.
func resolved(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return "" // the current folder is gone, and nothing is copied anyway
	}
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}
