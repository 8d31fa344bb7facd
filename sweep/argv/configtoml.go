package argv

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"gopkg.in/yaml.v3"

	"mlframework/sweep/fault"
	"mlframework/sweep/space"
)

func readTOML(text []byte) (*yaml.Node, *fault.Fault) {
	if err := toml.Unmarshal(text, new(map[string]any)); err != nil {
		f := &fault.Fault{Problem: "is not TOML: " + err.Error(), Remedy: "correct it"}
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			f.Line, f.Column = at.Position()
		}
		return nil, f
	}
	r := tomlReader{places: newPlaces(text), tables: map[tomlKey]*yaml.Node{}}
	top := r.read()
	if n := below(top, mostLevels); n != nil {
		return nil, &fault.Fault{Line: n.Line, Column: n.Column, Remedy: "nest less deeply",
			Problem: fmt.Sprintf("has tables and lists in more than %d levels", mostLevels)}
	}
	return &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{top}}, nil
}

// mostLevels bounds nesting: when the file is written, each table has the names of all above it.
const mostLevels = 100

// below returns a table or list that lies so many levels below another one; nil: there is none.
func below(n *yaml.Node, levels int) *yaml.Node {
	switch {
	case n.Kind == yaml.ScalarNode:
		return nil
	case levels == 0:
		return n
	}
	for _, c := range n.Content {
		if found := below(c, levels-1); found != nil {
			return found
		}
	}
	return nil
}

// tomlReader makes nodes of a text that is TOML.
type tomlReader struct {
	unstable.Parser
	places places
	tables map[tomlKey]*yaml.Node // and lists of them
}

// tomlKey is a key of a table.
type tomlKey struct {
	table *yaml.Node
	key   string
}

func (r *tomlReader) read() *yaml.Node {
	top := &yaml.Node{Kind: yaml.MappingNode}
	r.Reset(r.places.text)
	for table := top; r.NextExpression(); {
		e := r.Expression()
		if e.Kind == unstable.KeyValue {
			r.set(table, e)
			continue
		}
		table = top
		for it := e.Key(); it.Next(); {
			table = r.table(table, it.Node(), e.Kind == unstable.ArrayTable && it.IsLast())
		}
	}
	return top
}

// node is a node at the place of one of the parser, which does not say where lists begin: then the
// key before it is the place.
func (r *tomlReader) node(n *unstable.Node, kind yaml.Kind) *yaml.Node {
	if n.Raw.Length > 0 {
		r.places.moveTo(int(n.Raw.Offset))
	}
	return &yaml.Node{Kind: kind, Line: r.places.line, Column: r.places.column}
}

// table is the table at a key of another. One that is not there is made; of a list of tables it is
// the last, or a new one.
func (r *tomlReader) table(above *yaml.Node, key *unstable.Node, another bool) *yaml.Node {
	at := tomlKey{above, string(key.Data)}
	n := r.tables[at]
	if n == nil {
		n = r.node(key, yaml.MappingNode)
		if another {
			n.Kind = yaml.SequenceNode
		}
		r.tables[at] = n
		above.Content = append(above.Content, text(at.key), n)
	}
	if another {
		n.Content = append(n.Content, r.node(key, yaml.MappingNode))
	}
	if n.Kind == yaml.SequenceNode {
		return n.Content[len(n.Content)-1]
	}
	return n
}

// set sets a key of a table.
func (r *tomlReader) set(table *yaml.Node, e *unstable.Node) {
	for it := e.Key(); it.Next(); {
		key := it.Node()
		if !it.IsLast() {
			table = r.table(table, key, false)
			continue
		}
		r.places.moveTo(int(key.Raw.Offset))
		table.Content = append(table.Content, text(string(key.Data)), r.value(e.Value()))
	}
}

var tagOfTOML = map[unstable.Kind]string{unstable.String: "!!str", unstable.Bool: "!!bool",
	unstable.Integer: "!!int", unstable.Float: "!!float"}

// value reads a value. A scalar has the text that it has in the file.
func (r *tomlReader) value(v *unstable.Node) *yaml.Node {
	n := r.node(v, yaml.ScalarNode)
	switch v.Kind {
	case unstable.Array:
		n.Kind = yaml.SequenceNode
		for it := v.Children(); it.Next(); {
			n.Content = append(n.Content, r.value(it.Node()))
		}
	case unstable.InlineTable:
		n.Kind = yaml.MappingNode
		for it := v.Children(); it.Next(); {
			r.set(n, it.Node())
		}
	default:
		n.Value, n.Tag = string(r.Raw(v.Raw)), cmp.Or(tagOfTOML[v.Kind], "!!timestamp")
	}
	return n
}

// setTOML sets a value as JSON has it; TOML escapes one character more.
func setTOML(n *yaml.Node, p space.Assignment) {
	n.Value = strings.ReplaceAll(literal(p), "\x7f", `\u007f`)
}

func writeTOML(document *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	err := toml.NewEncoder(&b).EnableMarshalerInterface().Encode(tomlValue(document.Content[0]))
	return b.Bytes(), err
}

// tomlValue is a node for the library, which writes scalars as they are.
func tomlValue(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		all := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			all[n.Content[i].Value] = tomlValue(n.Content[i+1])
		}
		return all
	case yaml.SequenceNode:
		all := []any{}
		for _, c := range n.Content {
			all = append(all, tomlValue(c))
		}
		return all
	}
	return unstable.RawMessage(n.Value)
}
