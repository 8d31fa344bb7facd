package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"mlframework/infra/host"
	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
)

// Host is what is known of one host: what it has of its own, else what all have. User and Port are
// in the address.
type Host struct {
	Address host.Address // as listed; user and port of its own fill in what that leaves out
	HostOptions
}

// override is one entry of overrides.
type override struct {
	text  string // as written
	place place
	match host.Address
	given map[string]place // the keys that are there
	host  HostOptions
}

// fits reports whether the host is meant: the same name, and the same user and port where the entry
// names them.
func (o override) fits(a host.Address) bool {
	want, is := o.match.Normal(), a.Normal()
	return want.Name == is.Name && (o.match.User == "" || want.User == is.User) &&
		(o.match.Port == 0 || want.Port == is.Port)
}

// rank is how much of an address an entry names.
func (o override) rank() (rank int) {
	if o.match.User != "" {
		rank++
	}
	if o.match.Port != 0 {
		rank++
	}
	return rank
}

func (d *document) readOverrides(v yamlfile.Value) {
	type match struct {
		address host.Address
		anyPort bool
	}
	seen := map[match]override{}
	v.Example = "overrides: {gpu1: {slots: 2}}"
	all, _ := d.Mapping(v)
	for _, f := range all {
		a, err := host.Parse(f.Name)
		if problems := ofHost(err); len(problems) > 0 {
			d.Fault(f.Key, problems[0].text, problems[0].remedy)
			continue
		}
		// A port that is left out is any port, not 22.
		key := match{a.Normal(), a.Port == 0}
		if first, twice := seen[key]; twice {
			d.Fault(f.Key, fmt.Sprintf("is the same host as %s in line %d", first.text,
				first.place.line), "put the two together")
			continue
		}
		o := override{fault.Printable(f.Name), d.placeOf(f.Key), a, map[string]place{},
			HostOptions{}}
		f.Value.Example = o.text + ": {slots: 2}"
		d.fields(f.Value, hostOptions, reflect.ValueOf(&o.host).Elem(),
			func(own option, f yamlfile.Field) bool {
				o.given[own.name] = d.placeOf(f.Value)
				switch {
				case own.ssh && a.Local():
					d.Fault(f.Key, "this machine is reached without ssh", "remove it")
				case yamlfile.IsNull(f.Value.Node):
					d.Fault(f.Value, "has no value", "write one, or remove the key")
				default:
					return true
				}
				return false
			})
		seen[key] = o
		d.overrides = append(d.overrides, o)
	}
}

// Host returns what is known of a host. Where several entries fit, the one that names most of the
// address counts alone, of equal ones the first. What a host has of its own wins over every option,
// flags too: it says more.
func (c *Config) Host(a host.Address) Host {
	all := c.Options
	h := Host{Address: a}
	best, found := override{}, false
	for _, o := range c.overrides {
		if o.fits(a) && (!found || o.rank() > best.rank()) {
			best, found = o, true
		}
	}
	if found {
		h.HostOptions = best.host
		h.Address.User, h.Address.Port = cmp.Or(a.User, h.User), cmp.Or(a.Port, h.Port)
	}
	// Options for all hosts have the names of those for one.
	for _, own := range hostOptions {
		if o := named(options, own.name); o != nil {
			if _, given := best.given[own.name]; !given {
				reflect.ValueOf(&h.HostOptions).Elem().Field(own.field).
					Set(reflect.ValueOf(all).Field(o.field))
			}
		}
	}
	return h
}

// unused warns of overrides that fit none of the hosts. It is no fault: a host may be left out for
// a while.
func (c *Config) unused() (warnings fault.List) {
	if len(c.Options.Hosts) == 0 {
		return nil
	}
	for _, o := range c.overrides {
		if !slices.ContainsFunc(append(slices.Clone(c.Options.Hosts), host.Local), o.fits) {
			v := value{place: o.place, path: "overrides." + o.text}
			warnings.Add(v.fault(problem{text: "no host of this name is listed"}))
		}
	}
	return warnings
}

// shadowed warns where a flag or variable sets an option for all hosts that one of them has for
// itself.
func (c *Config) shadowed() (warnings fault.List) {
	for _, o := range c.overrides {
		for _, name := range names(options) {
			at, own := o.given[name]
			if origin := c.Origin(name); own && origin.Kind > File {
				v := value{place: at, path: "overrides." + o.text + "." + name}
				warnings.Add(v.fault(problem{text: "what a host has of its own stays, whatever " +
					origin.Place + " says"}))
			}
		}
	}
	return warnings
}
