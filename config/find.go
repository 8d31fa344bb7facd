package config

import (
	"iter"
	"os"
	"path/filepath"
	"syscall"

	"mlframework/sweep/fault"
)

// Find returns the file of the cluster that commands in the current folder mean, as a path relative
// to it: that of the nearest folder that has one, from the current one upwards.
func Find() (file string, ok bool) {
	for dir := range Upward() {
		if file, ok := In(dir); ok {
			return file, true
		}
	}
	return "", false
}

// In returns the file of a cluster in a folder: FileName, else a file of the former name that
// describes a cluster. In a folder above the current one, a file of another user is passed over:
// who writes it would get the project's files and secrets.
func In(dir string) (file string, ok bool) {
	file = filepath.Join(dir, FileName)
	if isThere(file) && (dir == "." || isTrusted(file)) {
		return file, true
	}
	file = filepath.Join(dir, formerName)
	return file, foreign(file) == nil && (dir == "." || isTrusted(file))
}

// isTrusted reports whether a file belongs to the user or to root.
func isTrusted(file string) bool {
	info, err := os.Stat(file)
	if err != nil {
		return false
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	return !known || owner.Uid == 0 || int(owner.Uid) == os.Geteuid()
}

// foreign returns why a file does not describe a cluster; nil if it does. A file of the former name
// may be another program's.
func foreign(file string) *fault.Fault {
	data, err := readText(file)
	if err != nil {
		return &unreadable(file, err)[0]
	}
	d := readYAML(file, data, folders{})
	_, hosts := d.values["hosts"]
	_, master := d.values["master"]
	_, workers := d.values["workers"]
	if hosts && (master || workers) { // what else is wrong with it is reported when it is read
		return nil
	}
	if len(d.Faults) > 0 {
		return &d.Faults[0]
	}
	if !hosts && len(d.overrides) == 0 {
		return &fault.Fault{File: file, Problem: "has no hosts"}
	}
	return nil
}

// Usual reports whether a file has the name of a cluster's file that commands find.
func Usual(name string) bool { return name == FileName || name == formerName }

func isThere(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// Upward yields the current folder and those above it, as paths relative to it. It ends with the
// user's home, if that is among them.
func Upward() iter.Seq[string] {
	return func(yield func(string) bool) {
		here, err := os.Getwd()
		if err != nil {
			yield(".")
			return
		}
		home, _ := os.UserHomeDir()
		// ".." leads to the folder above in the file system, whatever links lead here
		if real, err := filepath.EvalSymlinks(here); err == nil {
			here = real
		}
		if real, err := filepath.EvalSymlinks(home); err == nil {
			home = real
		}
		for dir, path := here, "."; yield(path) && dir != home && dir != filepath.Dir(dir); {
			dir, path = filepath.Dir(dir), filepath.Join(path, "..")
		}
	}
}

// find sets the file of a source that names none, and warns of one of the former name. Without
// Saved a cluster is set up, in the current folder.
func (l *loader) find() {
	s := &l.source
	file, ok := In(".")
	if !ok && s.Saved {
		file, ok = Find()
	}
	if !ok {
		s.File = FileName
		return
	}
	s.File = file
	former := filepath.Join(filepath.Dir(file), formerName)
	switch {
	case file == former:
		l.warnings.Add(fault.Fault{File: file, Problem: "has the former name of a cluster's file",
			Remedy: "rename it to " + FileName})
	case foreign(former) == nil:
		l.warnings.Add(fault.Fault{File: former, Problem: "is not read, because " + FileName +
			" is there", Remedy: "remove it"})
	}
}

// ProjectHere returns the project that a command in the current folder is about: that of the
// nearest folder with a tasks.yml below the folder of the file, else that of the options.
func (c *Config) ProjectHere() string {
	if c.near && c.Origin("project").Kind <= File {
		for dir := range Upward() {
			if dir == filepath.Dir(c.File) {
				break
			}
			if isThere(filepath.Join(dir, "tasks.yml")) {
				return dir
			}
		}
	}
	return c.Options.Project
}
