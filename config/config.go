// Package config is cluster.yml: the saved options of a cluster, and what its hosts have of their
// own.
//
// An option comes from a flag, else the environment, else the file, else its default; Explain says
// of each which it was. The reader is strict and reports every fault at once, each with its place
// and remedy. The structs Options and HostOptions are the schema, and docs/config.md explains every
// key. Saving changes options in the file's YAML and keeps all else, comments too. Secrets have no
// place in the file.
//
// The commands may import it. It imports infra/host, internal/yamlfile and sweep/fault only. What
// is here is safe for concurrent use; Load and Save touch files, all else is pure.
package config

import (
	"cmp"
	"path/filepath"
	"strings"

	"mlframework/infra/host"
	"mlframework/sweep/fault"
)

// Names of the files: ours, and the old system's, which is read where ours is not.
const (
	FileName    = "cluster.yml"
	OldFileName = "config.sh"

	formerName = "config.yml" // what FileName was
)

// Kind is where the value of an option came from, the weaker first.
type Kind int

// The kinds of origins.
const (
	Default Kind = iota
	File
	Environment
	Flag
)

// Origin is where the value of an option came from.
type Origin struct {
	Kind  Kind
	Place string // "cluster.yml:3:8", "MLFRAMEWORK_IMAGE", "--image", "default"
}

// Config is what Load put together. Whoever shares it must not change it.
type Config struct {
	Options   Options
	File      string // the file that options are saved in, read or not
	Read      string // the file that was read, cluster.yml or config.sh with its folder; "" is none
	near      bool   // no file was named
	values    map[string]value
	overrides []override
}

// Origin returns where the option of that name, a key of cluster.yml, has its value from.
func (c *Config) Origin(name string) Origin {
	v, given := c.values[name]
	if !given {
		return Origin{Default, "default"}
	}
	return Origin{v.kind, v.place.String()}
}

// Explained is one option with its value as a person reads it, and its origin.
type Explained struct{ Name, Value, Origin string }

// Explain lists every option. One without a value has the words for what that means.
func (c *Config) Explain() []Explained {
	list := make([]Explained, len(options))
	for i, o := range options {
		text := cmp.Or(strings.Join(o.words(c.Options), ", "), o.standard, o.unset)
		list[i] = Explained{o.name, text, c.Origin(o.name).Place}
	}
	return list
}

// Selection puts hosts, master and workers together. A fault in them was reported by Load; the
// error is host.ErrNothing when neither a master nor workers are named.
func (c *Config) Selection() (host.Selection, error) {
	return host.Select(c.Options.Hosts, c.Options.Master, c.Options.Workers)
}

// Missing says that options were to be taken from a file that is not there.
type Missing struct {
	File    string
	Foreign *fault.Fault // why a file of the former name describes no cluster; nil: there is none
}

func (m *Missing) Error() string {
	what := "there is no " + m.File
	if f := m.Foreign; f != nil {
		what += ", and " + filepath.Base(f.File) + " describes no cluster (" + fault.Fault{
			File: f.File, Line: f.Line, Column: f.Column, Problem: f.Problem}.String() + ")"
	}
	return what + ": infrainit -a HOST,... -m HOST -w HOST,... sets up a cluster and writes it"
}

// Usage is what is wrong in flags, where nothing else is: the command line is to blame, not the
// configuration.
type Usage struct{ Faults fault.List }

func (u *Usage) Error() string { return u.Faults.Error() }
