package argv

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// kind is what stands at a key of a file.
type kind uint8

const (
	other kind = iota // such as a date
	null
	boolean
	whole
	decimal
	words
	list
	mapping
)

func (k kind) String() string {
	return [...]string{"a value of another kind", "null", "a boolean", "a whole number",
		"a decimal number", "text", "a list", "a mapping"}[k]
}

// kindOf is the kind that a parameter's value has in a file.
func kindOf(p space.Assignment) kind {
	switch _, number := space.Number(p.Value); {
	case p.Kind == space.Switch:
		return boolean
	case p.Kind == space.Null:
		return null
	case p.Kind == space.JSON && p.Value[0] == '[':
		return list
	case p.Kind == space.JSON:
		return mapping
	case p.Kind == space.Text || !number:
		return words
	case strings.ContainsAny(p.Value, ".eE"):
		return decimal
	}
	return whole
}

var kindOfTag = map[string]kind{"!!str": words, "!!bool": boolean, "!!int": whole,
	"!!float": decimal, "!!null": null}

func kindOfNode(n *yaml.Node) kind {
	switch n = yamlfile.Target(n); n.Kind {
	case yaml.MappingNode:
		return mapping
	case yaml.SequenceNode:
		return list
	}
	return kindOfTag[n.ShortTag()]
}

// changes reports whether a value of another kind than was there may surprise a program: whole
// numbers are decimal ones, too.
func changes(was, is kind) bool {
	return was != is && was != null && is != null && was != other &&
		!(was == decimal && is == whole)
}

// document is a file into which values are put.
type document struct {
	format format
	file   task.File
	root   *yaml.Node
	put    [][]*yaml.Node // the ways to the values

	replaced [][]*yaml.Node // what was below the values
}

// top is the document's mapping.
func (d *document) top() *yaml.Node { return d.root.Content[0] }

func (d *document) fault(at *yaml.Node, problem, remedy string) *fault.Fault {
	return &fault.Fault{File: d.file.From, Line: at.Line, Column: at.Column, Problem: problem,
		Remedy: remedy}
}

// paths are the ways to what a file has at a key, dots and all: the document's mapping first, the
// value last. They are several where a key is there twice, or has dots itself.
func (d *document) paths(name string) (all [][]*yaml.Node) {
	var look func(path []*yaml.Node, name string)
	look = func(path []*yaml.Node, name string) {
		eachKey(path[len(path)-1], name, func(key string, value *yaml.Node) {
			rest, is := strings.CutPrefix(name, key)
			if way := append(slices.Clip(path), value); is && rest == "" {
				all = append(all, way)
			} else if is && rest[0] == '.' {
				look(way, rest[1:])
			}
		})
	}
	look([]*yaml.Node{d.top()}, name)
	return all
}

// eachKey calls each with the keys of a node that a name may begin with: those of a mapping, and of
// a list the number.
func eachKey(n *yaml.Node, name string, each func(key string, value *yaml.Node)) {
	switch n = yamlfile.Target(n); n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if k := n.Content[i]; k.Kind == yaml.ScalarNode && !yamlfile.IsMerge(k) {
				each(k.Value, n.Content[i+1])
			}
		}
	case yaml.SequenceNode:
		key, _, _ := strings.Cut(name, ".")
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(n.Content) {
			each(strconv.Itoa(i), n.Content[i])
		}
	}
}

// own returns the way to the longest part of a key that the file has, and the rest of the key. It
// puts copies in place of the aliases on the way: what is set there changes at this key only.
func (d *document) own(name string) (path []*yaml.Node, rest string) {
	path, rest = []*yaml.Node{d.top()}, name
	for cut := len(name); cut > 0; cut = strings.LastIndexByte(name[:cut], '.') {
		if at := d.paths(name[:cut]); len(at) > 0 {
			path, rest = at[0], strings.TrimPrefix(name[cut:], ".")
			break
		}
	}
	for _, n := range path {
		if n.Kind == yaml.AliasNode {
			own := d.clone(n.Alias)
			own.HeadComment, own.LineComment, own.FootComment = n.HeadComment, n.LineComment,
				n.FootComment
			own.Line, own.Column = n.Line, n.Column
			*n = *own
			return d.own(name)
		}
	}
	return path, rest
}

// clone copies a node and all below it, but for anchors. An alias stays one, unless its name is that
// of two anchors: where the copy stands, it may be that of the other.
func (d *document) clone(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && anchors(d.top(), n.Value) > 1 {
		return d.clone(n.Alias)
	}
	c := *n
	c.Anchor, c.Content = "", nil
	for _, below := range n.Content {
		c.Content = append(c.Content, d.clone(below))
	}
	return &c
}

// anchors counts the anchors with a name.
func anchors(n *yaml.Node, name string) (count int) {
	if n.Anchor == name {
		count++
	}
	for _, below := range n.Content {
		count += anchors(below, name)
	}
	return count
}

// add adds a key below the longest part of it that the file has.
func (d *document) add(name string) *fault.Fault {
	path, rest := d.own(name)
	n := path[len(path)-1]
	if kind := kindOfNode(n); kind != mapping {
		return d.fault(&yaml.Node{}, fmt.Sprintf("%s: %s is %s", name,
			strings.TrimSuffix(name, "."+rest), kind), "write the key into the file")
	}
	for key := range strings.SplitSeq(rest, ".") {
		n.Kind = yaml.MappingNode
		below := &yaml.Node{Kind: yaml.ScalarNode}
		n.Content = append(n.Content, text(key), below)
		n = below
	}
	return nil
}

// keysBelow are the keys that lead to what is below a node, with dots between them. What is below
// aliases is left out.
func keysBelow(n *yaml.Node, above string) (all []string) {
	for i, c := range n.Content {
		key := strconv.Itoa(i)
		if n.Kind == yaml.MappingNode {
			if i%2 == 0 {
				continue
			}
			key = n.Content[i-1].Value
		}
		all = append(append(all, above+key), keysBelow(c, above+key+".")...)
	}
	return all
}

// merged reports whether a mapping has a key of its own, or by a merge, <<.
func merged(n *yaml.Node, name string) bool {
	any := yamlfile.Mapping{Wrong: func(yamlfile.Mistake, *yaml.Node, *yaml.Node) {}}
	return slices.ContainsFunc(any.Entries(n), func(e yamlfile.Entry) bool {
		rest, is := strings.CutPrefix(name, e.Name)
		below := yamlfile.Target(e.Value)
		return is && (rest == "" || rest[0] == '.' && below.Kind == yaml.MappingNode &&
			merged(below, rest[1:]))
	})
}

// eachAlias calls each with the aliases in a node; merge says that one is the value of a <<.
func eachAlias(n *yaml.Node, merge bool, each func(alias *yaml.Node, merge bool)) {
	if n.Kind == yaml.AliasNode {
		each(n, merge)
	}
	for i, c := range n.Content {
		is := n.Kind == yaml.MappingNode && i%2 == 1 && yamlfile.IsMerge(n.Content[i-1])
		eachAlias(c, is || merge && n.Kind == yaml.SequenceNode, each)
	}
}

// firstOf is the first alias of what is on a way; nil: there is none.
func firstOf(path []*yaml.Node, aliases map[*yaml.Node]*yaml.Node) *yaml.Node {
	for _, n := range path {
		if by := aliases[n]; by != nil {
			return by
		}
	}
	return nil
}

// places counts lines and columns, in characters from 1, up to places that come in their order.
type places struct {
	text             []byte
	at, line, column int
}

func newPlaces(text []byte) places { return places{text, 0, 1, 1} }

func (p *places) moveTo(offset int) (line, column int) {
	for ; p.at < min(offset, len(p.text)); p.at++ {
		switch c := p.text[p.at]; {
		case c == '\n':
			p.line, p.column = p.line+1, 1
		case utf8.RuneStart(c):
			p.column++
		}
	}
	return p.line, p.column
}
