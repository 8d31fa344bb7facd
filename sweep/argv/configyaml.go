package argv

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
	"mlframework/sweep/space"
)

// yamlDocument is a YAML file. Comments and order stay; indentation and empty lines are those of
// the library.
type yamlDocument struct {
	root   *yaml.Node // the document
	all    map[string][]entry
	visits int                 // of nodes below aliases
	open   map[*yaml.Node]bool // of aliases that are being read
	circle *yaml.Node          // an alias in what it stands for
	merged map[string]bool     // keys that come by a merge only, or could
	put    []put
}

// mostVisits bounds what aliases can make of a small file. A visit is that of a node with a key of
// up to 1 KiB.
const mostVisits = 100_000

func parseYAML(text []byte) (document, *fault.Fault) {
	documents, wrong := yamlfile.Read(yamlfile.WithoutMark(string(text)), 2)
	switch {
	case wrong != nil:
		return nil, wrong
	case len(documents) == 0:
		return nil, &fault.Fault{Problem: "is empty", Remedy: "write its keys"}
	case len(documents) > 1:
		return nil, &fault.Fault{Line: documents[1].Line, Problem: "has a second document",
			Remedy: "keep one document in it"}
	}
	d := &yamlDocument{root: documents[0]}
	top := d.root.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, &fault.Fault{Line: top.Line, Column: top.Column, Problem: "is " + kindOfNode(
			top).String() + ", not a mapping", Remedy: "write keys and values: lr: 0.1"}
	}
	d.read()
	switch {
	case d.circle != nil:
		return nil, &fault.Fault{Line: d.circle.Line, Column: d.circle.Column,
			Problem: "has an alias in what it stands for, *" +
				d.circle.Value, Remedy: "write the value out"}
	case d.visits > mostVisits:
		return nil, &fault.Fault{Problem: "has aliases that repeat too much",
			Remedy: "write fewer of them"}
	}
	return d, nil
}

func (d *yamlDocument) read() {
	d.all, d.visits, d.open, d.merged = map[string][]entry{}, 0, map[*yaml.Node]bool{},
		map[string]bool{}
	d.value(d.root.Content[0], "", false)
}

// value notes a node and all below it; alias says that it stands elsewhere, too.
func (d *yamlDocument) value(n *yaml.Node, key string, alias bool) {
	if alias {
		d.visits += 1 + len(key)>>10
	}
	if d.visits > mostVisits {
		return
	}
	e, place := entry{alias: alias, at: n}, len(d.all[key])
	// before what is below it: an empty key, too, stands behind the root
	d.all[key] = append(d.all[key], e)
	if n.Kind == yaml.AliasNode {
		e.kind = kindOfNode(n.Alias)
		switch {
		case d.open[n.Alias]:
			d.circle = n
		case e.kind == list || e.kind == mapping:
			d.open[n.Alias] = true
			d.below(n.Alias, key, true)
			delete(d.open, n.Alias)
		}
	} else {
		e.kind = kindOfNode(n)
		d.below(n, key, alias)
	}
	d.all[key][place] = e
}

func (d *yamlDocument) below(n *yaml.Node, key string, alias bool) {
	switch n.Kind {
	case yaml.SequenceNode:
		for i, c := range n.Content {
			d.value(c, join(key, strconv.Itoa(i)), alias)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			switch k := n.Content[i]; {
			case yamlfile.IsMerge(k):
				d.merge(n.Content[i+1], key)
			case k.Kind == yaml.ScalarNode:
				d.value(n.Content[i+1], join(key, k.Value), alias)
			}
		}
	}
}

func kindOfNode(n *yaml.Node) kind {
	switch n.Kind {
	case yaml.MappingNode:
		return mapping
	case yaml.SequenceNode:
		return list
	case yaml.ScalarNode:
		switch n.ShortTag() {
		case "!!str":
			return words
		case "!!bool":
			return boolean
		case "!!int":
			return whole
		case "!!float":
			return decimal
		case "!!null":
			return null
		}
	}
	return other
}

func (d *yamlDocument) entries() map[string][]entry { return d.all }

func (d *yamlDocument) place(e entry) (line, column int) {
	n := e.at.(*yaml.Node)
	return n.Line, n.Column
}

func (d *yamlDocument) set(e entry, p space.Assignment) {
	n := e.at.(*yaml.Node)
	d.put = append(d.put, put{n, p.Name})
	was := *n
	if n.Kind == yaml.AliasNode {
		n.Kind, n.Alias = yaml.ScalarNode, nil
		was.Value = ""
	}
	n.Value, n.Tag, n.Style = p.Value, "", 0
	switch kindOf(p) {
	case words:
		n.Tag, n.Style = "!!str", was.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle)
		if n.Style == 0 && mustQuote(p.Value) {
			n.Style = yaml.DoubleQuotedStyle
		}
	case decimal, whole:
		n.Value = yamlNumber(p.Value, was.Value)
	}
}

// oldWords are text here, and booleans or null to readers of YAML 1.1.
var oldWords = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null|~|)$`)

// oldNumbers are text here, and numbers or times to readers of YAML 1.1.
var oldNumbers = regexp.MustCompile(`^[-+.0-9]`)

// mustQuote reports whether text needs quotes: in several lines it would become a block, which a
// key of empty lines cannot be.
func mustQuote(text string) bool {
	return oldWords.MatchString(text) || oldNumbers.MatchString(text) ||
		strings.Contains(text, "\n")
}

// dotless is a number that readers of YAML 1.1, such as PyYAML, take for text.
var dotless = regexp.MustCompile(`^([-+]?[0-9]+)(\.[0-9]*)?([eE])([-+]?)([0-9]+)$`)

// yamlNumber is a number as both versions of YAML read it: 1e-3 is 1.0e-3, unless the file had such
// a number there.
func yamlNumber(text, was string) string {
	text, _ = space.Number(text)
	m := dotless.FindStringSubmatch(text)
	if old := dotless.FindStringSubmatch(was); m == nil || old != nil &&
		(old[2] == "" || old[4] == "") {
		return text
	}
	if m[2] == "" {
		m[2] = ".0"
	}
	if m[4] == "" {
		m[4] = "+"
	}
	return strings.Join(m[1:], "")
}

func (d *yamlDocument) add(name string, p space.Assignment) (problem, remedy string) {
	return addBelow(d.all, name, func(above string, e entry, rest string) (bool, string, string) {
		n := e.at.(*yaml.Node)
		if e.alias || n.Kind == yaml.AliasNode {
			return true, above + " is part of an alias", "write the alias out"
		}
		leaf := &yaml.Node{Kind: yaml.ScalarNode}
		keys := strings.Split(rest, ".")
		for _, k := range keys[:len(keys)-1] {
			below := &yaml.Node{Kind: yaml.MappingNode}
			n.Content = append(n.Content, text(k), below)
			n = below
		}
		n.Content = append(n.Content, text(keys[len(keys)-1]), leaf)
		d.set(entry{at: leaf}, p)
		d.read()
		return true, "", ""
	})
}

// text is a node of a text.
func text(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if mustQuote(s) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

func (d *yamlDocument) bytes() ([]byte, error) {
	plainMerges(d.root)
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(d.indent())
	err := errors.Join(encoder.Encode(d.root), encoder.Close())
	return b.Bytes(), err
}

// indent is by how much the first mapping that is in another is indented.
func (d *yamlDocument) indent() int {
	top := d.root.Content[0]
	for i := 1; i < len(top.Content); i += 2 {
		if c := top.Content[i]; c.Kind == yaml.MappingNode && c.Style&yaml.FlowStyle == 0 &&
			c.Line > top.Content[i-1].Line {
			if by := c.Column - top.Column; by >= 2 && by <= 8 {
				return by
			}
		}
	}
	return 2
}
