package argv

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
)

// put is a node that has a parameter's value.
type put struct {
	node *yaml.Node
	name string
}

// plainMerges leaves the << of merges without their tag, which the library would write out.
func plainMerges(n *yaml.Node) {
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && yamlfile.IsMerge(c) {
			c.Tag = ""
		}
		plainMerges(c)
	}
}

// merge notes the keys that come by a merge: of a mapping, an alias of one, or a list of them.
func (d *yamlDocument) merge(n *yaml.Node, key string) {
	if n.Kind != yaml.SequenceNode {
		d.mergeMapping(n, key)
		return
	}
	for _, c := range n.Content {
		d.mergeMapping(c, key)
	}
}

func (d *yamlDocument) mergeMapping(n *yaml.Node, key string) {
	if d.visits += 1 + len(key)>>10; d.visits > mostVisits {
		return
	}
	switch {
	case n.Kind == yaml.AliasNode && d.open[n.Alias]:
		d.circle = n
	case n.Kind == yaml.AliasNode:
		d.open[n.Alias] = true
		d.mergeMapping(n.Alias, key)
		delete(d.open, n.Alias)
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if k, below := n.Content[i], n.Content[i+1]; yamlfile.IsMerge(k) {
				d.merge(below, key)
			} else {
				name := join(key, k.Value)
				d.merged[name] = true
				d.mergeMapping(below, name)
			}
		}
	}
}

// shared finds aliases of what has been put: their values change with it, which is wrong unless
// they are merges, which are there to take what the other mapping has.
func (d *yamlDocument) shared() (wrong, notes []fault.Fault) {
	a := aliases{of: map[*yaml.Node]*yaml.Node{}, merges: map[*yaml.Node]*yaml.Node{}}
	a.look(d.root, false)
	for _, p := range d.put {
		if by := a.of[p.node]; by != nil {
			wrong = append(wrong, fault.Fault{Line: by.Line, Column: by.Column,
				Problem: fmt.Sprintf(
					"%s: the alias *%s has its value, which would change here, too",
					p.name, by.Value), Remedy: "write the value out here"})
		} else if by := a.merges[p.node]; by != nil {
			notes = append(notes, fault.Fault{Line: by.Line, Column: by.Column,
				Problem: fmt.Sprintf("%s: the merge of *%s here takes its value, too, "+
					"unless there is a key of its own", p.name, by.Value)})
		}
	}
	return wrong, notes
}

// aliases are, by what can be reached through one, the first alias.
type aliases struct {
	of     map[*yaml.Node]*yaml.Node
	merges map[*yaml.Node]*yaml.Node
}

// look finds all aliases in a node; merge says that it is the value of a <<.
func (a *aliases) look(n *yaml.Node, merge bool) {
	if n.Kind == yaml.AliasNode {
		if merge {
			mark(n.Alias, n, a.merges)
		} else {
			mark(n.Alias, n, a.of)
		}
		return // what it stands for is in the file, too
	}
	for i, c := range n.Content {
		is := n.Kind == yaml.MappingNode && i%2 == 1 && yamlfile.IsMerge(n.Content[i-1])
		a.look(c, is || merge && n.Kind == yaml.SequenceNode)
	}
}

// mark marks a node, and all that can be reached from it.
func mark(n, by *yaml.Node, in map[*yaml.Node]*yaml.Node) {
	if in[n] != nil {
		return
	}
	in[n] = by
	if n.Kind == yaml.AliasNode {
		mark(n.Alias, by, in)
	}
	for _, c := range n.Content {
		mark(c, by, in)
	}
}
