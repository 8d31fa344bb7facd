package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mlframework/infra/host"
	"mlframework/sweep/fault"
)

// maxBytes is far above any file that a person writes.
const maxBytes = 1 << 20

// Source is where Load looks. The zero value reads config.yml of the current folder for what hosts have of their own, and
// takes all options by default.
type Source struct {
	File    string            // "" is FileName in the current folder
	NoFile  bool              // read no file; Saved is false then
	Saved   bool              // take options from the file too (-f)
	Flags   map[string]string // those given, by the options' names; "" is the default, whatever the file says
	Environ []string          // as os.Environ gives it
	User    string            // who runs the command, for the cluster's name
	Home    string            // folder that a leading ~/ stands for
}

// Load puts the options together: flag, else environment, else file, else default. A file that is not there is no
// error unless Saved asks for it: *Missing. Where there is no config.yml beside the default name, Saved reads config.sh
// of the old system instead.
//
// All faults are reported at once. The error is a *Usage when only flags are wrong, else a fault.List. Warnings may come
// with and without an error.
func Load(s Source) (*Config, fault.List, error) {
	if s.File == "" {
		s.File = FileName
	}
	l := &loader{source: s, values: map[string]value{}, at: folders{filepath.Dir(s.File), s.Home}}
	c := new(Config)
	if !s.NoFile {
		if err := l.readFile(c); err != nil {
			return nil, l.warnings, err
		}
	}
	l.readEnvironment()
	l.readFlags()
	c.Options, c.values = l.settle(), l.values
	if s.Saved && c.Read == "" && len(l.faults)+len(l.wrong) == 0 {
		return nil, l.warnings, &Missing{s.File}
	}
	l.computed(&c.Options)
	l.checkPlaces(c.Options)
	l.warnings = append(l.warnings, c.unused()...)
	l.warnings = append(l.warnings, c.shadowed()...)
	return l.finish(c)
}

// loader collects values, and what is wrong with them.
type loader struct {
	source        Source
	at            folders
	values        map[string]value // by option
	faults, wrong fault.List       // wrong are those of flags
	warnings      fault.List
}

func (l *loader) add(kind Kind, f fault.Fault) {
	if kind == Flag {
		l.wrong.Add(f)
	} else {
		l.faults.Add(f)
	}
}

func (l *loader) finish(c *Config) (*Config, fault.List, error) {
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

// readFile reads config.yml, or config.sh in its stead. Options of a file that are not asked for are checked all the
// same: saving would meet their faults.
func (l *loader) readFile(c *Config) error {
	data, err := readText(l.source.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l.readOld(c)
	case err != nil:
		return unreadable(l.source.File, err)
	}
	c.Read = l.source.File
	text := readYAML(l.source.File, data, l.at)
	l.faults, l.warnings, c.overrides = text.faults, text.warnings, text.overrides
	var scratch Options
	for _, o := range table {
		v, found := text.values[o.name]
		if !found || len(v.words) == 0 {
			continue
		}
		if l.source.Saved {
			l.values[o.name] = v
			continue
		}
		for _, p := range o.set(&scratch, v.words) {
			l.report(v, p)
		}
	}
	return nil
}

func (l *loader) readOld(c *Config) error {
	if filepath.Base(l.source.File) != FileName || !l.source.Saved {
		return nil
	}
	name := filepath.Join(filepath.Dir(l.source.File), OldFileName)
	data, err := readText(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return unreadable(name, err)
	}
	c.Read = name
	values, warnings := readShell(name, string(data))
	l.values = values
	l.warnings = append(l.warnings, warnings...)
	return nil
}

func (l *loader) readEnvironment() {
	known := map[string]option{}
	for _, o := range table {
		known[Variable(o.name)] = o
	}
	for _, e := range l.source.Environ {
		name, text, _ := strings.Cut(e, "=")
		short, ours := strings.CutPrefix(name, variablePrefix)
		o, found := known[name]
		switch {
		case found && text != "":
			l.values[o.name] = single(o, Environment, place{name: name}, "", text)
		case found || !ours:
		default:
			l.misspelt(name, short, known)
		}
	}
}

// misspelt warns of a variable that is nearly one of ours. Others with this prefix belong to other parts.
func (l *loader) misspelt(name, short string, known map[string]option) {
	var names []string
	for n := range known {
		names = append(names, strings.TrimPrefix(n, variablePrefix))
	}
	slices.Sort(names)
	if near := fault.Nearest(short, names); near != "" && len(short) > 3 {
		l.warnings.Add(fault.Fault{File: name, Problem: "is not read by anybody", Remedy: fmt.Sprintf("did you mean %s?", variablePrefix+near)})
	}
}

func (l *loader) readFlags() {
	for _, o := range table {
		if text, given := l.source.Flags[o.name]; given {
			l.values[o.name] = single(o, Flag, place{name: o.flag()}, "", text)
		}
	}
}

// flag is the option as people write it: -a, --image.
func (o option) flag() string {
	if o.short != "" {
		return "-" + o.short
	}
	return "--" + o.name
}

// settle makes options of the values, and reports what is wrong with them.
func (l *loader) settle() Options {
	o := defaults()
	for _, row := range table {
		v := l.values[row.name]
		if len(v.words) == 0 {
			continue
		}
		for _, p := range row.set(&o, v.words) {
			l.report(v, p)
		}
		if row.path != nil && v.kind == File {
			*row.path(&o) = l.at.resolve(*row.path(&o))
		} else if row.path != nil {
			*row.path(&o) = folders{"", l.source.Home}.resolve(*row.path(&o))
		}
	}
	return o
}

// computed are the defaults that depend on who asks and where.
func (l *loader) computed(o *Options) {
	if o.Project == "" {
		if _, err := os.Stat("tasks.yml"); err == nil {
			o.Project = "."
		}
	}
	if o.Name != "" || o.Project == "" || l.source.User == "" {
		return
	}
	project, err := filepath.Abs(o.Project)
	if err != nil {
		return
	}
	o.Name = clusterNameOf(l.source.User, filepath.Base(project))
}

// clusterNameOf puts dashes for what a cluster's name cannot have.
func clusterNameOf(parts ...string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(strings.Join(parts, "-")) {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '_':
			b.WriteRune(c)
		case !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	name := strings.Trim(b.String(), "-._")
	if len(name) > maxName {
		name = strings.TrimRight(name[:maxName], "-._")
	}
	return name
}

// unused warns of overrides that fit none of the hosts. It is no fault: a host may be left out for a while.
func (c *Config) unused() (warnings fault.List) {
	if len(c.Options.Hosts) == 0 {
		return nil
	}
	for _, o := range c.overrides {
		if !slices.ContainsFunc(hostsOf(c.Options), func(a host.Address) bool { return o.fits(a) }) {
			warnings.Add(fault.Fault{File: o.place.name, Line: o.place.line, Column: o.place.column,
				Problem: fmt.Sprintf("overrides.%s: no host of this name is listed", o.text)})
		}
	}
	return warnings
}
