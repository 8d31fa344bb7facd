package definition

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
)

// entries returns what a mapping holds, with what it merges (<<).
func (r *reader) entries(v value) (all []entry) {
	names := map[string]bool{}
	for _, e := range r.merging(v).Entries(v.Node) {
		if !names[e.Name] { // the second of two equal keys is a fault
			all = append(all, r.entry(v, e))
		}
		names[e.Name] = true
	}
	return all
}

// merging lists a mapping, within the bounds of what may be read.
func (r *reader) merging(v value) yamlfile.Mapping {
	return yamlfile.Mapping{
		Enter: func(n *yaml.Node) bool { return r.spend(r.at(n, v.path, ""), 1+len(n.Content)) },
		Wrong: func(m yamlfile.Mistake, at, first *yaml.Node) {
			switch is := r.at(at, v.path, ""); {
			case m == yamlfile.NoName:
				r.fault(is, "a key is "+describe(is.Node)+", not text", "")
			case m == yamlfile.NoMapping:
				r.fault(is, "a merge key needs a mapping, not "+describe(is.Node),
					"write <<: *NAME of an &NAME before a mapping")
			case m == yamlfile.InItself:
				r.fault(is, "a merge key makes this mapping part of itself", "remove the merge key")
			case m == yamlfile.Twice && !yamlfile.IsMerge(at):
				key := r.entry(v, yamlfile.Entry{Name: is.Value, Key: at, Value: at}).key
				r.fault(key, fmt.Sprintf("is there twice, first in line %d", first.Line),
					"remove one")
			}
		},
	}
}

func (r *reader) entry(v value, e yamlfile.Entry) entry {
	path := printable(e.Name)
	if v.path != "" {
		path = v.path + "." + path
	}
	// An aliased key is spoken of where it is used.
	key := value{Node: &yaml.Node{Kind: yaml.ScalarNode, Line: e.Key.Line, Column: e.Key.Column},
		path: path}
	return entry{name: e.Name, key: key, value: r.at(e.Value, path, "")}
}
