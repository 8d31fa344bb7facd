// Package config is config.yml: the saved options of a cluster, and what its hosts have of their own.
//
// An option comes from a flag, else the environment, else the file, else its default; Explain says of each which it was.
// The reader is strict and reports every fault at once, each with its place and a way out. Saving changes the lines of
// options whose value changed, and no other byte. The schema is the commented example, example.yml; a test holds the
// two together. Secrets have no place in the file.
//
// The commands may import it. It imports infra/host and sweep/fault only, and it owns YAML for config.yml. What is here
// is safe for concurrent use; Load and Save touch files, all else is pure.
package config

import (
	"fmt"
	"slices"

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
	Read      string // the file that was read, config.yml or config.sh with its folder; "" when there is none
	values    map[string]value
	overrides []override
}

// Origin tells where the option of that name, a key of config.yml, has its value from.
func (c *Config) Origin(name string) Origin {
	v, given := c.values[name]
	if !given {
		return Origin{Default, "default"}
	}
	return Origin{v.kind, v.place.String()}
}

// Explained is one option with its value as a person reads it, and its origin.
type Explained struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

// Explain lists every option in the order of the example. An option without a value says what that means.
func (c *Config) Explain() []Explained {
	list := make([]Explained, len(table))
	for i, o := range table {
		text := join(o.get(c.Options))
		if text == "" {
			text = o.without
		}
		list[i] = Explained{o.name, text, c.Origin(o.name).Place}
	}
	return list
}

// Selection puts hosts, master and workers together. A fault in them was reported by Load; the error is
// host.ErrNothing when neither a master nor workers are named.
func (c *Config) Selection() (host.Selection, error) {
	return host.Select(c.Options.Hosts, c.Options.Master, c.Options.Workers)
}

// Missing says that options were to be taken from a file that is not there.
type Missing struct{ File string }

func (m *Missing) Error() string {
	return fmt.Sprintf("there is no %s: infrainit writes it when it is given -m and -w, and -a for hosts reached by ssh", m.File)
}

// Usage is what is wrong in flags, where nothing else is: the command line is to blame, not the configuration.
type Usage struct{ Faults fault.List }

func (u *Usage) Error() string { return u.Faults.Error() }

// checkPlaces adds what does not fit together in hosts, master and workers, each where it was written.
func (l *loader) checkPlaces(o Options) {
	names := map[host.Option]string{host.Hosts: "hosts", host.Master: "master", host.Workers: "workers"}
	for _, f := range host.Check(o.Hosts, o.Master, o.Workers) {
		l.report(l.values[names[f.Option]], problem{f.Element, f.Problem, f.Remedy})
	}
}

// report adds a fault of a value where that, or the element of it, was written.
func (l *loader) report(v value, p problem) {
	l.add(v.kind, v.faultOf(p))
}

// hostsOf are the options' hosts and this machine, for what may be said of any.
func hostsOf(o Options) []host.Address { return append(slices.Clone(o.Hosts), host.Local) }
