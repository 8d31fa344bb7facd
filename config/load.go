package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"mlframework/infra/host"
	"mlframework/sweep/fault"
)

// maxBytes is far above any file that a person writes.
const maxBytes = 1 << 20

// Source is where Load looks. The zero value reads cluster.yml of the current folder for what hosts
// have of their own, and takes all options by default.
type Source struct {
	File    string            // "": as Find does; without Saved in the current folder only
	NoFile  bool              // read no file; Saved is false then
	Saved   bool              // take options from the file too (-f)
	Flags   map[string]string // those given, by options' names; "" is the default
	Environ []string          // as os.Environ gives it
	User    string            // who runs the command, for the cluster's name
	Home    string            // folder that a leading ~/ stands for
}

// Load puts the options together: flag, else environment, else file, else default. A file that is
// not there is no error unless Saved asks for it: *Missing. Where there is no cluster.yml, Saved
// reads config.sh of the old system beside it instead.
//
// All faults are reported at once, those of options in the file that something stronger replaces
// too: saving would meet them. The error is a *Usage when only flags are wrong, else a fault.List.
// Warnings may come with and without an error.
func Load(s Source) (*Config, fault.List, error) {
	c := &Config{values: map[string]value{}, near: s.File == "" && !s.NoFile}
	l := &loader{source: s}
	if c.near {
		l.find()
	}
	c.File = cmp.Or(l.source.File, FileName)
	l.source.File, l.at = c.File, folders{filepath.Dir(c.File), s.Home}
	saved := map[string]value{}
	if !s.NoFile {
		var err error
		if saved, err = l.readFile(c); err != nil {
			return nil, l.warnings, err
		}
	}
	environment := l.environment()
	var inFile Options // its hosts, which places in the file name
	named(options, "hosts").set(reflect.ValueOf(&inFile).Elem(), saved["hosts"].words)
	for _, o := range options {
		if v, given := saved[o.name]; given && s.Saved {
			c.values[o.name] = v
		}
		if v, given := environment[o.name]; given {
			c.values[o.name] = v
		}
		if text, given := s.Flags[o.name]; given {
			v := value{kind: Flag, place: place{name: o.flag()}}
			c.values[o.name] = v.text(o.kind.list, text)
		}
		if v := saved[o.name]; c.values[o.name].kind != File {
			l.set(o, &inFile, v)
		}
	}
	c.Options = l.settle(c.values)
	if s.Saved && c.Read == "" && len(l.faults)+len(l.wrong) == 0 {
		m := &Missing{File: c.File}
		if former := filepath.Join(filepath.Dir(c.File), formerName); c.near && isThere(former) {
			m.Foreign = foreign(former)
		}
		return nil, l.warnings, m
	}
	l.computed(&c.Options)
	l.checkPlaces(c)
	l.warnings = append(append(l.warnings, c.unused()...), c.shadowed()...)
	l.warnings.Sort()
	switch {
	case len(l.faults) > 0:
		return nil, l.warnings, append(l.faults, l.wrong...).Err()
	case len(l.wrong) > 0:
		l.wrong.Sort()
		return nil, l.warnings, &Usage{l.wrong}
	}
	return c, l.warnings, nil
}

// loader collects what is wrong.
type loader struct {
	source        Source
	at            folders
	faults, wrong fault.List // wrong are those of flags
	warnings      fault.List
}

// readFile reads the file, or config.sh in its stead.
func (l *loader) readFile(c *Config) (map[string]value, error) {
	name, data, err := l.source.File, []byte(nil), error(nil)
	if data, err = readText(name); err == nil {
		c.Read = name
		d := readYAML(name, data, l.at)
		l.faults, c.overrides = d.Faults, d.overrides
		l.warnings = append(l.warnings, d.Warnings...)
		return d.values, nil
	}
	if errors.Is(err, fs.ErrNotExist) && l.source.Saved && filepath.Base(name) == FileName {
		name = filepath.Join(filepath.Dir(name), OldFileName)
		if data, err = readText(name); err == nil {
			c.Read = name
			values, warnings := readShell(name, string(data))
			l.warnings = append(l.warnings, warnings...)
			return values, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return nil, unreadable(name, err)
}

// readText reads a file that a person wrote: one that is small.
func readText(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("it is not a file")
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && len(data) > maxBytes {
		err = fmt.Errorf("it is longer than %d bytes", maxBytes)
	}
	return data, err
}

func unreadable(name string, err error) fault.List {
	if op, ok := errors.AsType[*fs.PathError](err); ok {
		err = op.Err
	}
	return fault.List{{File: name, Problem: "cannot be read: " + err.Error(),
		Remedy: "name another with --config, or put a readable file there"}}
}

func (l *loader) environment() map[string]value {
	values, known := map[string]value{}, map[string]option{}
	var shorts []string
	for _, o := range options {
		known[Variable(o.name)] = o
		shorts = append(shorts, strings.TrimPrefix(Variable(o.name), variablePrefix))
	}
	slices.Sort(shorts)
	for _, e := range l.source.Environ {
		name, text, _ := strings.Cut(e, "=")
		short, ours := strings.CutPrefix(name, variablePrefix)
		if o, found := known[name]; found && text != "" {
			v := value{kind: Environment, place: place{name: name}}
			values[o.name] = v.text(o.kind.list, text)
		} else if !found && ours && len(short) > 3 {
			// Others with this prefix belong to other parts.
			if near := fault.Nearest(short, shorts); near != "" {
				l.warnings.Add(fault.Fault{File: name, Problem: "is not a known variable",
					Remedy: "did you mean " + variablePrefix + near + "?"})
			}
		}
	}
	return values
}

// settle makes options of the values, and reports what is wrong with them.
func (l *loader) settle(values map[string]value) Options {
	o := defaults
	for _, opt := range options {
		l.set(opt, &o, values[opt.name])
	}
	return o
}

// set gives an option a value, unless there is none.
func (l *loader) set(opt option, o *Options, v value) {
	if len(v.words) == 0 {
		return
	}
	in := reflect.ValueOf(o).Elem()
	if opt.positions { // hosts are options before positions
		v.words = host.Numbers(o.Hosts, v.words)
	}
	for _, p := range opt.set(in, v.words) {
		l.report(v, p)
	}
	if opt.path {
		at := folders{"", l.at.home}
		if v.kind == File {
			at = l.at
		}
		in.Field(opt.field).SetString(at.resolve(in.Field(opt.field).String()))
	}
}

// report adds a fault of a value where that, or the element of it, was written.
func (l *loader) report(v value, p problem) {
	if v.kind == Flag {
		l.wrong.Add(v.fault(p))
	} else {
		l.faults.Add(v.fault(p))
	}
}

// checkPlaces reports what does not fit together in hosts, master and workers, each where it was
// written.
func (l *loader) checkPlaces(c *Config) {
	o := c.Options
	names := map[host.Option]string{
		host.Hosts: "hosts", host.Master: "master", host.Workers: "workers",
	}
	for _, f := range host.Check(o.Hosts, o.Master, o.Workers) {
		l.report(c.values[names[f.Option]], problem{f.Element, f.Problem, f.Remedy})
	}
}

// computed sets the defaults that depend on the user, the current folder and that of the file.
func (l *loader) computed(o *Options) {
	for _, dir := range []string{l.at.dir, "."} {
		if o.Project == "" && isThere(filepath.Join(dir, "tasks.yml")) {
			o.Project = dir
		}
	}
	if o.Name != "" || o.Project == "" || l.source.User == "" {
		return
	}
	if project, err := filepath.Abs(o.Project); err == nil {
		o.Name = clusterNameOf(l.source.User, filepath.Base(project))
	}
}

// separators are what is between the letters and digits of a cluster's name.
var separators = regexp.MustCompile(`[^a-z0-9]+`)

// clusterNameOf makes a cluster's name of texts, with dashes for what it cannot have.
func clusterNameOf(parts ...string) string {
	name := separators.ReplaceAllStringFunc(strings.ToLower(strings.Join(parts, "-")),
		func(between string) string {
			if between == "." || between == "_" || between == "__" {
				return between
			}
			return "-"
		})
	name = strings.Trim(name, "-._")
	return strings.TrimRight(name[:min(len(name), maxName)], "-._")
}
