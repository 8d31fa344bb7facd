package config

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"
)

// mapping returns the entries of a mapping, no name twice. What it merges (<<) comes last and gives way to its own:
// https://yaml.org/type/merge.html. At the top nothing is merged, as options are saved where they stand.
func (t *text) mapping(n node, example string) ([]entry, bool) {
	if n.Kind != yaml.MappingNode {
		problem := "is " + kindName(n.Kind) + ", not a mapping"
		if isNull(n.Node) {
			problem = "has no value"
		}
		t.fault(n, problem, "write "+example)
		return nil, false
	}
	var list []entry
	t.collect(n, n.path == "", map[*yaml.Node]bool{}, &list)
	return list, true
}

func (t *text) collect(n node, top bool, around map[*yaml.Node]bool, list *[]entry) {
	if around[n.Node] {
		t.fault(n, "a merge key makes this mapping part of itself", "remove the merge key")
		return
	}
	around[n.Node] = true
	defer delete(around, n.Node)
	var merged []node
	own := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if t.budget--; t.budget < 0 {
			if t.budget == -1 {
				t.fault(n, fmt.Sprintf("merge keys repeat more than %d values", maxEntries), "write fewer of them")
			}
			return
		}
		key, v := t.node(n.Content[i], n.path), t.node(n.Content[i+1], n.path)
		switch {
		case isMerge(n.Content[i]) && top:
			t.fault(key, "merge keys do not belong at the top of the file", "write the keys out")
		case isMerge(n.Content[i]):
			merged = append(merged, t.sources(v)...)
		case key.Kind != yaml.ScalarNode:
			t.fault(key, "a key is "+kindName(key.Kind)+", not text", "write NAME: VALUE")
		default:
			t.own(entry{key.Value, key, v}, own, list)
		}
	}
	for _, m := range merged {
		t.collect(m, false, around, list)
	}
}

// own adds an entry unless an outer or earlier mapping has it; twice in one mapping is a fault.
func (t *text) own(e entry, own map[string]int, list *[]entry) {
	path := printable(e.name)
	if e.key.path != "" {
		path = e.key.path + "." + path
	}
	e.key.path, e.node.path = path, path
	if line, twice := own[e.name]; twice {
		t.fault(e.key, fmt.Sprintf("is there twice, first in line %d", line), "remove one")
		return
	}
	own[e.name] = e.key.place.line
	if !slices.ContainsFunc(*list, func(other entry) bool { return other.name == e.name }) {
		*list = append(*list, e)
	}
}

// sources are the mappings that a merge key names.
func (t *text) sources(n node) (list []node) {
	all := []node{n}
	if n.Kind == yaml.SequenceNode {
		all, _ = t.sequence(n)
	}
	for _, one := range all {
		if one.path = n.path; one.Kind == yaml.MappingNode {
			list = append(list, one)
		} else {
			t.fault(one, "a merge key needs a mapping, not "+kindName(one.Kind), "write <<: *NAME of an &NAME before a mapping")
		}
	}
	return list
}
