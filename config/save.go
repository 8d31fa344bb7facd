package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"mlframework/sweep/fault"
)

// heading begins a file that Save makes.
const heading = `# The options of a cluster, saved by infrainit. "infrainit -f" takes them from here; a flag beside -f wins.
# What else can stand here, also for single hosts, is in docs/config.md.

`

// Save writes the options into the file; home is what a leading ~/ in it stands for. Lines of options whose value
// changes are replaced, those of options that are as by default again go away, new ones are added; every other byte
// stays. It writes nothing when nothing changes, and else the whole file at once: a reader sees the old one or the new
// one. The file keeps its mode, a new one has 0644: nothing in it is secret.
//
// The error is a fault.List when the file has faults or cannot be changed without changing more than the options.
func Save(file, home string, o Options) error {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	mode := fs.FileMode(0o644)
	before, err := readText(file)
	if errors.Is(err, fs.ErrNotExist) {
		before = []byte(heading)
	} else if err != nil {
		return unreadable(file, err)
	} else if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	after, err := edit(file, before, o, folders{filepath.Dir(file), home})
	if err != nil || bytes.Equal(before, after) {
		return err
	}
	if err := replace(file, after, mode); err != nil {
		return fmt.Errorf("save the options in %s: %w", file, err)
	}
	return nil
}

// replace writes a file beside the old one, makes it last, and puts it in the old one's place.
func replace(file string, data []byte, mode fs.FileMode) error {
	temporary, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(data)
	err = errors.Join(err, temporary.Chmod(mode), temporary.Sync(), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}

// edit returns the text with its option keys as o has them. What it made is read again and compared: where an option is
// entangled with something else, as by an anchor, it gives up and says so.
func edit(file string, data []byte, o Options, at folders) ([]byte, error) {
	before := readYAML(file, data, at)
	was, faults := before.options()
	if len(faults) > 0 {
		return nil, faults.Err()
	}
	for _, row := range table {
		if row.path != nil { // in the form that it is read back in
			*row.path(&o) = at.resolve(at.relative(*row.path(&o)))
		}
	}
	e := newEditor(data, before.root)
	for _, row := range table {
		have, want := row.get(was), row.get(o)
		if slices.Equal(have, want) {
			continue
		}
		if len(want) > 0 && row.path != nil {
			want = []string{at.relative(want[0])}
		}
		_, found := before.values[row.name]
		e.set(row, found, want)
	}
	result := e.text()
	after := readYAML(file, result, at)
	is, faults := after.options()
	if len(faults) == 0 && sameOptions(is, o) && sameOverrides(before.overrides, after.overrides) {
		return result, nil
	}
	return nil, fault.List{{File: file, Problem: "the options cannot be saved without changing more than them",
		Remedy: "write each on a line of its own, such as master: 1, without anchors and tags"}}
}

// options are those of the text alone, and all that is wrong in it.
func (t *text) options() (Options, fault.List) {
	l := &loader{values: t.values, faults: slices.Clone(t.faults), at: t.at, source: Source{Home: t.at.home}}
	o := l.settle()
	return o, l.faults
}

func sameOptions(a, b Options) bool {
	for _, row := range table {
		if !slices.Equal(row.get(a), row.get(b)) {
			return false
		}
	}
	return true
}

func sameOverrides(a, b []override) bool {
	return slices.EqualFunc(a, b, func(a, b override) bool {
		return a.text == b.text && fmt.Sprint(a.host) == fmt.Sprint(b.host)
	})
}
