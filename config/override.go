package config

import (
	"fmt"

	"mlframework/infra/host"
	"mlframework/sweep/fault"
)

// Host is what is known of one host: what it has of its own, else what all have.
type Host struct {
	Address     host.Address   // as listed; user and port of its own fill in what that leaves out
	Key         string         // as Options.Key
	Jump        []host.Address // hosts to go through, the first one first; none leaves it to ssh's configuration
	Slots       int            // as Options.Slots
	GPUs        GPUs
	Image       string // as Options.Image
	Labels      []Pair
	Environment []Pair   // of its worker, and so of every attempt there
	Volumes     []string // "source:target" or "source:target:ro", beside those of tasks.yml
	Limits      Limits
}

// Pair is a name with its value, in file order. The value is text as the file has it: 0.10 stays 0.10.
type Pair struct{ Name, Value string }

// Limits are those of a host's worker, for all of its slots together; 0 is none of its own.
type Limits struct {
	Memory       int64 // bytes
	SharedMemory int64 // size of /dev/shm in bytes
	Processes    int
}

// override is one entry of overrides.
type override struct {
	text  string // as written
	place place
	match host.Address
	given map[string]place // the keys that are there
	host  Host
}

// fits tells whether the host is meant: the same name, and the same user and port where the entry names them.
func (o override) fits(a host.Address) bool {
	want, is := o.match.Normal(), a.Normal()
	return want.Name == is.Name && (o.match.User == "" || want.User == is.User) && (o.match.Port == 0 || want.Port == is.Port)
}

// rank is how much of an address an entry names.
func (o override) rank() int {
	rank := 0
	if o.match.User != "" {
		rank++
	}
	if o.match.Port != 0 {
		rank++
	}
	return rank
}

// Host tells what is known of a host. Where several entries fit, the one that names most of the address counts alone, of
// equal ones the first. What a host has of its own wins over every option, flags too: it says more.
func (c *Config) Host(a host.Address) Host {
	h := Host{Address: a, Key: c.Options.Key, Slots: c.Options.Slots, GPUs: c.Options.GPUs, Image: c.Options.Image}
	o := c.overrideOf(a)
	if o == nil {
		return h
	}
	own := o.host
	own.Address = a
	if a.User == "" {
		own.Address.User = o.host.Address.User
	}
	if a.Port == 0 {
		own.Address.Port = o.host.Address.Port
	}
	fallback(o.given, "key", &own.Key, h.Key)
	fallback(o.given, "slots", &own.Slots, h.Slots)
	fallback(o.given, "gpus", &own.GPUs, h.GPUs)
	fallback(o.given, "image", &own.Image, h.Image)
	return own
}

func fallback[T any](given map[string]place, key string, own *T, general T) {
	if _, found := given[key]; !found {
		*own = general
	}
}

func (c *Config) overrideOf(a host.Address) *override {
	best := -1
	for i, o := range c.overrides {
		if o.fits(a) && (best < 0 || o.rank() > c.overrides[best].rank()) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return &c.overrides[best]
}

// shadowed warns where a flag or variable says something of all hosts and one of them has its own.
func (c *Config) shadowed() (warnings fault.List) {
	for _, o := range c.overrides {
		for _, name := range []string{"key", "slots", "gpus", "image"} {
			at, own := o.given[name]
			if origin := c.Origin(name); own && origin.Kind > File {
				warnings.Add(fault.Fault{File: at.name, Line: at.line, Column: at.column,
					Problem: fmt.Sprintf("overrides.%s.%s: what a host has of its own stays, whatever %s says", o.text, name, origin.Place)})
			}
		}
	}
	return warnings
}
