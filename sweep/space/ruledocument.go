package space

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
)

// sections are what the second document has, each key once.
type sections []entry

// sectionNames are the keys of the second document.
var sectionNames = []string{"zip", "where", "exclude", "include", "when", "repeat", "sample",
	"seed", "defaults"}

func (all sections) find(name string) *entry {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}

// rules returns the mapping of the second document.
func (r *reader) rules(top *yaml.Node) *yaml.Node {
	if top.Kind != yaml.MappingNode {
		r.fault(top, "the second document is "+yamlfile.KindOf(top)+
			", not rules for the combinations",
			"write lines such as where: lr * batchsize <= 1")
		return nil
	}
	return top
}

// sections returns the keys of the second document, each once and known.
func (r *reader) sections(top *yaml.Node) (all sections) {
	if top == nil {
		return nil
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		name := yamlfile.Target(key).Value
		earlier := all.find(name)
		switch {
		case yamlfile.Target(key).Kind != yaml.ScalarNode || !slices.Contains(sectionNames, name):
			remedy := "the second document has " + enumerate(sectionNames, "and")
			if near := fault.Nearest(name, sectionNames); near != "" {
				remedy = "did you mean " + near + "?"
			}
			r.fault(key, show(name)+" is not a rule", remedy)
			continue
		case earlier != nil:
			line, _ := r.places.Of(earlier.Key.Line, earlier.Key.Column)
			r.fault(key, name+": is there twice, first on line "+strconv.Itoa(line),
				"write all of it in one place, as a list")
			continue
		case yamlfile.IsNull(yamlfile.Target(value)):
			r.fault(key, name+": no value", "write one, or remove the line")
			continue
		}
		all = append(all, entry{Name: name, Key: key, Value: value})
	}
	return all
}

// elements returns those of a list, or the one value that stands instead of it.
func elements(n *yaml.Node) []*yaml.Node {
	if t := yamlfile.Target(n); t.Kind == yaml.SequenceNode {
		return t.Content
	}
	return []*yaml.Node{n}
}

// elements returns those of a section, which has to have one.
func (d *draft) elements(s entry, remedy string) []*yaml.Node {
	all := elements(s.Value)
	if len(all) == 0 {
		d.fault(s.Value, s.Name+": the list is empty", remedy+", or remove the line")
	}
	return all
}

// walk reads how the combinations are walked.
func (d *draft) walk(rules sections) {
	for _, s := range rules {
		switch s.Name {
		case "zip":
			d.zip(s)
		case "where", "exclude":
			d.rules(s)
		case "when":
			d.when(s)
		}
	}
	if s := rules.find("repeat"); s != nil { // it has to know of zip
		d.repeat(*s)
	}
	d.sample(rules)
}

// zip reads groups of parameters that vary together.
func (d *draft) zip(s entry) {
	groups := d.elements(s, "name two or more parameters, such as [[lr, momentum]]")
	// one group, without the outer list
	if len(groups) > 0 && yamlfile.Target(groups[0]).Kind == yaml.ScalarNode {
		groups = []*yaml.Node{s.Value}
	}
	taken := map[int]bool{}
	for _, p := range d.plan.listed.parameters {
		taken[p] = true
	}
	for _, group := range groups {
		d.zipGroup(group, taken)
	}
}

func (d *draft) zipGroup(n *yaml.Node, taken map[int]bool) {
	var group []int
	good := true
	for _, element := range elements(n) {
		p, ok := d.named(element, "zip")
		if ok && taken[p] {
			d.fault(element, "zip: "+show(d.plan.parameters[p].name)+
				" varies together with others already", "name it once")
			ok = false
		}
		if !ok {
			good = false
			continue
		}
		taken[p] = true
		group = append(group, p)
	}
	of := len(group)
	group = slices.DeleteFunc(group, func(p int) bool { // one value that a command line sets
		return d.changes[d.plan.parameters[p].name] && d.plan.parameters[p].count() == 1
	})
	switch {
	case !good || len(group) < 2 && len(group) < of:
		return
	case len(group) < 2:
		d.fault(n, "zip: one parameter alone has nothing to vary together with",
			"name two or more, such as [[lr, momentum]]")
		return
	}
	for _, p := range group[1:] {
		if d.plan.parameters[p].count() != d.plan.parameters[group[0]].count() {
			var lengths []string
			for _, p := range group {
				lengths = append(lengths, fmt.Sprintf("%s has %d", show(d.plan.parameters[p].name),
					d.plan.parameters[p].count()))
			}
			d.fault(n, "zip: as many values are needed of each: "+strings.Join(lengths, ", "),
				"write lists of one length, or leave one out of the group")
			return
		}
	}
	d.plan.zipped = append(d.plan.zipped, group)
}

// completing reads what points have if they say nothing else.
func (r *reader) completing(rules sections) []entry {
	s := rules.find("defaults")
	if s == nil {
		return nil
	}
	n := yamlfile.Target(s.Value)
	if n.Kind != yaml.MappingNode {
		r.fault(s.Value, "defaults: "+yamlfile.KindOf(n)+" is not parameters with one value each",
			"write {lr: 0.1}")
		return nil
	}
	return r.entries(n)
}
