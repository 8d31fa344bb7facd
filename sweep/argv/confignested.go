package argv

import (
	"encoding/json"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/sweep/fault"
	"mlframework/sweep/space"
)

// unfit says why a value cannot stand in a file at a key, which the file may not have; put are the
// parameters that it has already.
func (d *document) unfit(n *yaml.Node, p space.Assignment, put []space.Assignment) *fault.Fault {
	whole := p.Kind == space.JSON || p.Kind == space.Null
	if n == nil {
		n = &yaml.Node{}
	}
	switch kind := kindOfNode(n); {
	case !whole && (kind == list || kind == mapping):
		example := "[[64, 64]]"
		if kind == mapping {
			example = "[{name: adam}]"
		}
		return d.fault(n, p.Name+": is "+kind.String()+", into which no single value goes",
			"name a key below it, rename the parameter, or write "+kind.String()+" as one value, "+
				p.Name+": "+example)
	case whole && !d.format.null && hasNull(nodeOf(p)):
		return d.fault(n, p.Name+": TOML has no null", "leave the key out of the file, and the "+
			"parameter out where it is null (when), or use a file in YAML or JSON")
	case whole && slices.ContainsFunc(put, func(before space.Assignment) bool {
		return strings.HasPrefix(before.Name, p.Name+".")
	}):
		return d.fault(n, p.Name+": replaces a parameter below it", "put "+p.Name+
			" before it in the parameters file")
	}
	return nil
}

// nodeOf returns a value that is null, a list or a mapping, as of a file in JSON.
func nodeOf(p space.Assignment) *yaml.Node {
	document, _ := readJSON([]byte(p.Value)) // it is JSON
	return document.Content[0]
}

func hasNull(n *yaml.Node) bool {
	return n.Tag == "!!null" || slices.ContainsFunc(n.Content, hasNull)
}

// put sets a node to a value.
func (f format) put(n *yaml.Node, p space.Assignment) {
	if p.Kind == space.JSON {
		f.putNested(n, nodeOf(p))
		return
	}
	n.Kind, n.Content = yaml.ScalarNode, nil
	f.set(n, p)
}

// putNested sets a node to a list or a mapping that was read as JSON. It keeps the style of one
// that was there.
func (f format) putNested(n, from *yaml.Node) {
	if from.Kind == yaml.ScalarNode {
		f.set(n, assigned(from))
		return
	}
	if n.Kind == yaml.ScalarNode {
		n.Style = yaml.FlowStyle
	}
	n.Kind, n.Tag, n.Value, n.Content = from.Kind, "", "", nil
	for i, c := range from.Content {
		below := &yaml.Node{Kind: yaml.ScalarNode}
		if from.Kind == yaml.MappingNode && i%2 == 0 {
			below = text(c.Value)
		} else {
			f.putNested(below, c)
		}
		n.Content = append(n.Content, below)
	}
}

// assigned returns the value of a scalar of JSON.
func assigned(n *yaml.Node) space.Assignment {
	switch n.Tag {
	case "!!null":
		return space.Assignment{Value: n.Value, Kind: space.Null}
	case "!!bool":
		return space.Assignment{Value: n.Value, Kind: space.Switch}
	case "!!str":
		p := space.Assignment{Kind: space.Text}
		_ = json.Unmarshal([]byte(n.Value), &p.Value)
		return p
	}
	return space.Assignment{Value: n.Value}
}

// appendAll appends a node and all below it.
func appendAll(all []*yaml.Node, n *yaml.Node) []*yaml.Node {
	all = append(all, n)
	for _, c := range n.Content {
		all = appendAll(all, c)
	}
	return all
}
