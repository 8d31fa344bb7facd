// Package config is config.yml: the saved options of a cluster, and what its hosts have of their
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
	"fmt"
	"strings"

	"mlframework/infra/host"
	"mlframework/sweep/fault"
)

// Names of the files: ours, and the old system's, which is read where ours is not.
const (
	FileName    = "config.yml"
	OldFileName = "config.sh"
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
	Place string // "config.yml:3:8", "MLFRAMEWORK_IMAGE", "--image", "default"
}

// Config is what Load put together. Whoever shares it must not change it.
type Config struct {
	Options   Options
	Read      string // the file that was read, config.yml or config.sh with its folder; "" is none
	values    map[string]value
	overrides []override
}

// Origin returns where the option of that name, a key of config.yml, has its value from.
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
type Missing struct{ File string }

func (m *Missing) Error() string {
	return fmt.Sprintf("there is no %s: infrainit -a HOST,... -m HOST "+
		"-w HOST,... sets up a cluster and writes it", m.File)
}

// Usage is what is wrong in flags, where nothing else is: the command line is to blame, not the
// configuration.
type Usage struct{ Faults fault.List }

func (u *Usage) Error() string { return u.Faults.Error() }
