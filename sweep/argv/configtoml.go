package argv

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"mlframework/sweep/fault"
	"mlframework/sweep/space"
)

// tomlDocument is a TOML file.
type tomlDocument struct {
	textDocument
	// of tables with a header, and of the top: where the line of their last key ends
	ends map[string]int
}

func parseTOML(text []byte) (document, *fault.Fault) {
	d := &tomlDocument{textDocument: textDocument{text: text, written: tomlLiteral}}
	var into map[string]any
	if err := toml.Unmarshal(text, &into); err != nil {
		f := &fault.Fault{Problem: "is not TOML: " + err.Error(), Remedy: "correct it"}
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			f.Line, f.Column = at.Position()
		}
		return nil, f
	}
	if err := d.read(); err != nil {
		return nil, &fault.Fault{Problem: "is not TOML: " + err.Error(), Remedy: "correct it"}
	}
	return d, nil
}

func (d *tomlDocument) read() error {
	d.all, d.splices, d.ends = map[string][]entry{"": {{kind: mapping}}}, nil, map[string]int{"": 0}
	var p unstable.Parser
	p.Reset(d.text)
	table, arrays := "", map[string]int{}
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			var last int
			table, last = d.keys(e, "", arrays)
			if e.Kind == unstable.ArrayTable {
				n := arrays[table]
				arrays[table] = n + 1
				d.put(table, entry{kind: list})
				table = join(table, strconv.Itoa(n))
			}
			d.put(table, entry{kind: mapping})
			d.ends[table] = d.lineEnd(last)
		case unstable.KeyValue:
			key, at := d.keys(e, table, nil)
			end := d.value(e.Value(), key, at)
			d.ends[table] = d.lineEnd(end)
		}
	}
	return p.Error()
}

// put notes a table. One that is there has its keys in several places.
func (d *tomlDocument) put(key string, e entry) {
	if len(d.all[key]) == 0 {
		d.all[key] = []entry{e}
	}
}

// keys joins the keys of an expression, notes the tables above the last, and returns where the last
// ends. In a table's name an array of tables is its last element.
func (d *tomlDocument) keys(e *unstable.Node, above string,
	arrays map[string]int) (key string, end int) {
	key = above
	for it := e.Key(); it.Next(); {
		if key != above {
			if n := arrays[key]; n > 0 {
				key = join(key, strconv.Itoa(n-1))
			}
			d.put(key, entry{kind: mapping})
		}
		n := it.Node()
		key = join(key, string(n.Data))
		end = int(n.Raw.Offset + n.Raw.Length)
	}
	return key, end
}

// lineEnd is the end of the line of an offset.
func (d *tomlDocument) lineEnd(at int) int {
	if i := bytes.IndexByte(d.text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(d.text)
}

// next is the offset of what follows a key, a value or a bracket: a value, or a closing bracket.
// Between them are signs and comments.
func (d *tomlDocument) next(at int) int {
	for at < len(d.text) {
		switch d.text[at] {
		case ' ', '\t', '\r', '\n', ',', '=':
			at++
		case '#':
			at = d.lineEnd(at)
		default:
			return at
		}
	}
	return at
}

// value notes a value, which stands behind its key, and all below it, and returns where it ends.
func (d *tomlDocument) value(n *unstable.Node, key string, behind int) (end int) {
	e := entry{kind: other}
	from, to := int(n.Raw.Offset), int(n.Raw.Offset+n.Raw.Length)
	if n.Kind == unstable.Array { // the parser does not say where it is
		from = d.next(behind)
		to = from + 1
	}
	switch n.Kind {
	case unstable.Array:
		e.kind = list
		i := 0
		for it := n.Children(); it.Next(); {
			if it.Node().Kind == unstable.Comment {
				continue
			}
			to = max(to, d.value(it.Node(), join(key, strconv.Itoa(i)), to))
			i++
		}
		to = d.next(to) + 1
	case unstable.InlineTable:
		e.kind = mapping
		for it := n.Children(); it.Next(); {
			if child := it.Node(); child.Kind == unstable.KeyValue {
				below, at := d.keys(child, key, nil)
				to = max(to, d.value(child.Value(), below, at))
			}
		}
		to = d.next(to) + 1
	case unstable.Bool:
		e.kind = boolean
	case unstable.Integer:
		e.kind = whole
	case unstable.Float:
		e.kind = decimal
	case unstable.String:
		e.kind = words
	}
	e.at = span{from: from, to: to}
	d.all[key] = append(d.all[key], e)
	return to
}

// tomlLiteral is a value in TOML.
func tomlLiteral(p space.Assignment) string { return tomlText(literal(p)) }

// tomlText is a value in JSON as TOML has it: that escapes one character more.
func tomlText(json string) string { return strings.ReplaceAll(json, "\x7f", `\u007f`) }

// tomlKey is a key with dots as TOML has it.
func tomlKey(name string) string {
	keys := strings.Split(name, ".")
	for i, k := range keys {
		if strings.Trim(k,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" || k == "" {
			keys[i] = tomlText(quoted(k))
		}
	}
	return strings.Join(keys, ".")
}

func (d *tomlDocument) add(name string, p space.Assignment) (problem, remedy string) {
	return addBelow(d.all, name, func(above string, e entry, rest string) (bool, string, string) {
		if e.at != nil {
			return true, above + " is an inline table, into which no key is added",
				"write " + tomlKey(rest) +
					" = VALUE between its braces, or make it a table with a header, [" + above + "]"
		}
		end, header := d.ends[above]
		if !header { // a table made by dotted keys: the one above it takes the key
			return false, "", ""
		}
		line := tomlKey(rest) + " = " + tomlLiteral(p)
		if end == 0 {
			line += "\n"
		} else {
			line = "\n" + line
		}
		d.splices = append(d.splices, splice{end, end, line})
		text, _ := d.bytes()
		changed, wrong := parseTOML(text)
		if wrong != nil {
			return true, "cannot be added: " + wrong.Problem, intoFile
		}
		*d = *changed.(*tomlDocument)
		return true, "", ""
	})
}
