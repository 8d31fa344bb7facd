package worker

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// outputNames are folders that programs make for what they produce, and the files of an attempt's output. They are never
// linked from the project, so that every attempt has its own.
var outputNames = []string{"result", "results", "run", "runs", "log", "logs", "checkpoint", "checkpoints", "output",
	"outputs", "stdout.log", "stderr.log"}

// link is a symbolic link that every working directory gets.
type link struct{ name, target string }

// links lists what a working directory in folder shows of a revision. They are relative, so that a project can be moved
// with its outputs. The kernel reads a link from where its folder really is: outputs may lie behind a link themselves.
func links(revision, folder string, outputs []string) (all []link, err error) {
	entries, err := os.ReadDir(revision)
	if err != nil {
		return nil, err
	}
	here, err1 := filepath.EvalSymlinks(folder)
	there, err2 := filepath.EvalSymlinks(revision)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	base, err := filepath.Rel(filepath.Join(here, "0"), there)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if name := e.Name(); !slices.Contains(outputNames, name) && !slices.Contains(outputs, name) {
			all = append(all, link{name, filepath.Join(base, name)})
		}
	}
	return all, nil
}

// make puts the link into dir. One of an earlier attempt, to another revision, is replaced; what a program made under
// the name stays.
func (l link) make(dir string) error {
	path := dir + "/" + l.name
	err := os.Symlink(l.target, path)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if target, err := os.Readlink(path); err != nil || target == l.target || !l.like(target) {
		return nil
	}
	return errors.Join(os.Remove(path), os.Symlink(l.target, path))
}

// like tells whether a target is one that this package gives to a link of the name: out of the working directory, to
// something of the same name.
func (l link) like(target string) bool {
	return strings.HasPrefix(target, "../") && filepath.Base(target) == l.name
}
