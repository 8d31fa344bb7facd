package space

import (
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// entry is a parameter before its value is read.
type entry struct {
	name       string
	key, value *yaml.Node
}

// flattener lists the keys of a mapping and of those merged into it. Merged keys stand where the "<<" stands. As YAML
// has it, a mapping's own keys win over merged ones, and earlier merged mappings over later ones.
type flattener struct {
	*reader
	taken map[string]bool
	seen  map[*yaml.Node]bool // merging a mapping twice adds nothing: ends cycles, keeps alias bombs linear
}

func (f *flattener) entries(mapping *yaml.Node) []entry {
	f.seen[mapping] = true
	own, values := f.own(mapping)
	var all []entry
	for i, key := range own {
		switch {
		case key == nil:
		case isMerge(key):
			all = append(all, f.merged(values[i])...)
		default:
			all = append(all, entry{target(key).Value, key, values[i]})
		}
	}
	return all
}

// own checks the keys of one mapping and claims their names. A key that does not count, because it is no name or because
// an enclosing or earlier mapping has it, is nil.
func (f *flattener) own(mapping *yaml.Node) (keys, values []*yaml.Node) {
	type identity struct {
		name  string
		merge bool // "<<" in quotes is a name
	}
	first := map[identity]*yaml.Node{}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, id := mapping.Content[i], identity{target(mapping.Content[i]).Value, isMerge(mapping.Content[i])}
		values = append(values, mapping.Content[i+1])
		if target(key).Kind != yaml.ScalarNode {
			f.fault(key, kindName(target(key))+" cannot be the name of a parameter", "write a name")
			keys = append(keys, nil)
			continue
		}
		if earlier := first[id]; earlier != nil {
			line, _ := f.places.of(earlier.Line, earlier.Column)
			f.fault(key, show(id.name)+": is there twice, first on line "+strconv.Itoa(line), "write all of it in one place")
		} else if first[id] = key; !id.merge {
			f.checkName(key)
			if f.taken[id.name] {
				key = nil
			}
			f.taken[id.name] = true
		}
		keys = append(keys, key)
	}
	return keys, values
}

func (f *flattener) checkName(key *yaml.Node) {
	if problem, remedy := nameProblem(target(key).Value); problem != "" {
		f.fault(key, problem, remedy)
	}
}

// merged lists what the value of a "<<" adds.
func (f *flattener) merged(value *yaml.Node) (all []entry) {
	sources := []*yaml.Node{value}
	if n := target(value); n.Kind == yaml.SequenceNode {
		sources = n.Content
	}
	for _, source := range sources {
		n := target(source)
		if n.Kind != yaml.MappingNode {
			f.fault(source, "<<: "+kindName(n)+" cannot be merged", "name a mapping or a list of mappings")
		} else if !f.seen[n] {
			all = append(all, f.entries(n)...)
		}
	}
	return all
}

func isMerge(key *yaml.Node) bool { return key.Kind == yaml.ScalarNode && key.Tag == "!!merge" }

// target is the node that an alias stands for.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// nameProblem says why a key cannot be the name of a flag, or "".
func nameProblem(name string) (problem, remedy string) {
	cannot := strconv.Quote(name) + " cannot be the name of a flag: "
	switch {
	case name == "":
		return cannot + "it is empty", "write a name"
	case strings.ContainsFunc(name, func(r rune) bool { return r != ' ' && unicode.IsControl(r) }):
		return cannot + "it has a control character", "remove it"
	case strings.ContainsFunc(name, unicode.IsSpace):
		return cannot + "it has a space", "write " + strings.Join(strings.Fields(name), "_")
	case strings.Contains(name, "="):
		return cannot + "it has a =", "write the value after a colon"
	case strings.HasPrefix(name, "-"):
		return cannot + "it begins with -", "write it without: the dashes of a flag are added"
	default:
		return "", ""
	}
}
