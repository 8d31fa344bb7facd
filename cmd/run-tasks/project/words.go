package project

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mlframework/cmd/internal/cli"
	"mlframework/projects"
	"mlframework/sweep/fault"
	"mlframework/sweep/human"
	"mlframework/sweep/space"
)

// Words are what was typed of a change, for a shell.
func Words(words []string) string {
	_, line, _ := strings.Cut(human.CommandLine(append([]string{"run-tasks"}, words...)), " ")
	return line
}

// unreadParameters gives faults of a parameters file and of overrides the exit code of the command
// line where none is the file's.
func unreadParameters(path string, err error) error {
	faults, ok := errors.AsType[fault.List](err)
	if ok && !slices.ContainsFunc(faults, func(f fault.Fault) bool { return f.File == path }) {
		return &cli.Error{Code: cli.Usage, Err: err}
	}
	return err
}

// NearPath is an absolute path as it is shortest to type here.
func NearPath(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if near, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(near) {
		return near
	}
	return path
}

// TasksOf is so many points of a space in words: combinations, unless several points repeat one.
func TasksOf(s *space.Space, n int64) string {
	if len(s.Repeats()) > 0 {
		return human.Plural(n, "task")
	}
	return Combinations(n)
}

func Combinations(n int64) string { return human.Plural(n, "combination") }

// FilesError gives what is wrong with a project's files its exit code.
func FilesError(err error) error {
	_, files := errors.AsType[*projects.ScanError](err)
	_, folder := errors.AsType[*projects.FolderError](err)
	if files || folder {
		return &cli.Error{Code: cli.Invalid, Err: err}
	}
	return err
}

// exists reports whether a path leads to something.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
