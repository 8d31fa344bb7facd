package definition

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"
)

// entries returns what a mapping holds. What it merges (<<) stands first, and gives way to its own keys; of two merged
// mappings the earlier one wins: https://yaml.org/type/merge.html. The set visiting holds the mappings around v.
func (r *reader) entries(v value, visiting map[*yaml.Node]bool) []entry {
	if visiting[v.Node] {
		r.fault(v, "a merge key makes this mapping part of itself", "remove the merge key")
		return nil
	}
	visiting[v.Node] = true
	defer delete(visiting, v.Node)
	if !r.spend(v, 1+len(v.Content)) {
		return nil
	}
	var own, merged []entry
	for i := 0; i+1 < len(v.Content); i += 2 {
		if isMerge(v.Content[i]) {
			merged = append(merged, r.merge(v, v.Content[i+1], visiting)...)
			continue
		}
		if e, ok := r.entry(v, v.Content[i], v.Content[i+1]); ok {
			own = append(own, e)
		}
	}
	return override(merged, r.unique(own))
}

// merge returns the entries of the mapping, or of the list of mappings, that a merge key names.
func (r *reader) merge(v value, n *yaml.Node, visiting map[*yaml.Node]bool) []entry {
	from := r.at(n, v.path, "")
	sources := []value{from}
	if from.Kind == yaml.SequenceNode {
		if !r.spend(from, 1+len(from.Content)) {
			return nil
		}
		sources = sources[:0]
		for _, c := range from.Content {
			sources = append(sources, r.at(c, v.path, ""))
		}
	}
	var merged []entry
	for _, s := range sources {
		if s.Kind != yaml.MappingNode {
			r.fault(s, "a merge key needs a mapping, not "+describe(s.Node), "write <<: *NAME of an &NAME before a mapping")
			continue
		}
		merged = append(merged, r.entries(s, visiting)...)
	}
	return merged
}

func (r *reader) entry(v value, k, n *yaml.Node) (entry, bool) {
	key := r.at(k, v.path, "")
	if key.Kind != yaml.ScalarNode {
		r.fault(key, "a key is "+describe(key.Node)+", not text", "")
		return entry{}, false
	}
	path := printable(key.Value)
	if v.path != "" {
		path = v.path + "." + path
	}
	// An aliased key is spoken of where it is used.
	key.Node, key.path = &yaml.Node{Kind: yaml.ScalarNode, Line: k.Line, Column: k.Column}, path
	e := entry{name: k.Value, key: key, value: r.at(n, path, "")}
	if k.Kind == yaml.AliasNode {
		e.name = k.Alias.Value
	}
	return e, true
}

// unique refuses the second of two equal keys, and keeps the first.
func (r *reader) unique(entries []entry) []entry {
	first := make(map[string]int, len(entries))
	return slices.DeleteFunc(entries, func(e entry) bool {
		line, seen := first[e.name]
		if seen {
			r.fault(e.key, fmt.Sprintf("is there twice, first in line %d", line), "remove one")
			return true
		}
		first[e.name] = e.key.Line
		return false
	})
}

// override returns merged without the later of equal names, then own, each name of own in the place of its merged one.
func override(merged, own []entry) []entry {
	at := make(map[string]int, len(merged)+len(own))
	result := make([]entry, 0, len(merged)+len(own))
	for _, e := range merged {
		if _, found := at[e.name]; !found {
			at[e.name] = len(result)
			result = append(result, e)
		}
	}
	for _, e := range own {
		if i, found := at[e.name]; found {
			result[i] = e
			continue
		}
		result = append(result, e)
	}
	return result
}

// isMerge is true for an unquoted <<.
func isMerge(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "<<" && n.Tag == "!!merge"
}
