package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
)

// document is what a config.yml says.
type document struct {
	file             string
	at               folders
	places           yamlfile.Places
	root             *yaml.Node // of kind DocumentNode; nil for a file without content
	values           map[string]value
	overrides        []override
	faults, warnings fault.List
	budget           int // mappings that may still be gone through: merge keys multiply them
}

const maxMappings = 20_000

// node is a node, what an alias stands for, with the place where it or its alias is written.
type node struct {
	*yaml.Node
	place place
	path  string // what messages call it: "overrides.gpu1.slots"
}

// entry is one key of a mapping with its value.
type entry struct {
	name       string
	key, value node // of one path
}

func readYAML(file string, data []byte, at folders) *document {
	text := yamlfile.WithoutMark(string(data))
	d := &document{file: file, at: at, places: yamlfile.NewPlaces(text), budget: maxMappings,
		values: map[string]value{}}
	roots, bad := yamlfile.Read(text, 2)
	if bad != nil {
		bad.File = file
		d.faults.Add(*bad)
		return d
	}
	if len(roots) > 1 && len(roots[1].Content) > 0 {
		d.fault(d.node(roots[1].Content[0], ""), "a second document begins here",
			"remove the line --- before it")
	} else if len(roots) > 0 && len(roots[0].Content) > 0 && !yamlfile.IsNull(roots[0].Content[0]) {
		d.root = roots[0]
		d.top(d.node(roots[0].Content[0], ""))
	}
	return d
}

func (d *document) top(n node) {
	for _, e := range d.mapping(n, "master: 1") {
		o := named(options, e.name)
		switch {
		case e.name == "overrides" && yamlfile.IsNull(e.value.Node): // all of them are comments
		case e.name == "overrides":
			d.readOverrides(e.value)
		case o != nil:
			if v, ok := d.words(e.value, o.kind.list); ok {
				d.values[e.name] = v
			}
		case named(hostOptions, e.name) != nil:
			d.fault(e.key, "does not belong at the top of the file",
				"write it below a host: overrides: {gpu1: {"+e.name+": ...}}")
		default:
			d.unknown(e, append(names(options), "overrides"))
		}
	}
}

// fields reads a mapping into the struct of that schema. Keys that are not accepted are left out.
func (d *document) fields(n node, example string, schema []option, into reflect.Value,
	accept func(option, entry) bool) {
	for _, e := range d.mapping(n, example) {
		o := named(schema, e.name)
		switch {
		case o == nil:
			d.unknown(e, names(schema))
		case !accept(*o, e):
		case o.kind.name != nil:
			pairs := d.pairs(e.value, o.kind.name)
			into.Field(o.field).Set(reflect.ValueOf(pairs))
		case o.kind.parse == nil:
			d.fields(e.value, "limits: {memory: 64g, shm: 16g, pids: 4096}", limitOptions,
				into.Field(o.field), func(option, entry) bool { return true })
		default:
			v, ok := d.words(e.value, o.kind.list)
			if !ok {
				continue
			}
			for _, p := range o.set(into, v.words) {
				d.faults.Add(v.fault(p))
			}
			if o.path {
				f := into.Field(o.field)
				f.SetString(d.at.resolve(f.String()))
			}
		}
	}
}

// pairs reads a mapping of names to texts; an empty text is one.
func (d *document) pairs(n node, check func(string) (problem, bool)) (list []Pair) {
	for _, e := range d.mapping(n, "{NAME: value}") {
		if p, warning := check(e.name); p.text != "" && warning {
			d.warnings.Add(d.faultAt(e.key, p.text, p.remedy))
		} else if p.text != "" {
			d.fault(e.key, p.text, p.remedy)
		}
		if v := e.value; v.Kind == yaml.ScalarNode && v.Value == "" && !yamlfile.IsNull(v.Node) {
			list = append(list, Pair{Name: e.name})
		} else if word, ok := d.word(v); ok {
			list = append(list, Pair{e.name, word})
		}
	}
	return list
}

// words reads what is written for one option: a text, or a list of texts.
func (d *document) words(n node, list bool) (v value, ok bool) {
	v = value{kind: File, place: n.place, path: n.path}
	if !list || n.Kind == yaml.ScalarNode {
		word, ok := d.word(n)
		return v.text(list, word), ok
	}
	if ok = n.Kind == yaml.SequenceNode; !ok {
		d.fault(n, "is "+yamlfile.KindOf(n.Node)+", not a list", "write [a, b]")
		return v, false
	}
	for i, c := range n.Content {
		e := d.node(c, fmt.Sprintf("%s[%d]", n.path, i))
		word, good := d.word(e)
		ok = ok && good
		v.words, v.elements = append(v.words, word), append(v.elements, e.place)
	}
	return v, ok
}

// word returns a single value as it is written, quotes and escapes resolved.
func (d *document) word(n node) (string, bool) {
	known := []string{"!!str", "!!int", "!!float", "!!bool", "!!null"}
	switch {
	case n.Kind != yaml.ScalarNode:
		d.fault(n, "is "+yamlfile.KindOf(n.Node)+", not a single value", "write one value")
	case yamlfile.IsNull(n.Node):
		d.fault(n, "has no value", "write one, or remove the key")
	case n.Style&yaml.TaggedStyle != 0 && !slices.Contains(known, n.Tag):
		d.fault(n, fmt.Sprintf("the tag %s has no meaning here", printable(n.Tag)), "remove it")
	case n.Value == "":
		d.fault(n, "is empty", "write a value, or remove the key")
	case strings.ContainsFunc(n.Value, unicode.IsControl):
		d.fault(n, quote(n.Value)+" holds a control character", "remove it")
	default:
		return n.Value, true
	}
	return "", false
}

// mapping returns the entries of a mapping and of those merged into it (<<), no name twice.
func (d *document) mapping(n node, example string) (list []entry) {
	if n.Kind != yaml.MappingNode {
		problem := "is " + yamlfile.KindOf(n.Node) + ", not a mapping"
		if yamlfile.IsNull(n.Node) {
			problem = "has no value"
		}
		d.fault(n, problem, "write "+example)
		return nil
	}
	twice := map[*yaml.Node]bool{}
	m := yamlfile.Mapping{
		Wrong: func(m yamlfile.Mistake, at, first *yaml.Node) {
			twice[at] = m == yamlfile.Twice
			d.mistake(m, n.path, at, first)
		},
		Enter: func(at *yaml.Node) bool {
			if d.budget--; d.budget == -1 {
				d.fault(d.node(at, n.path), fmt.Sprintf("merge keys repeat more than %d mappings",
					maxMappings), "write fewer of them")
			}
			return d.budget >= 0
		},
	}
	for _, e := range m.Entries(n.Node) {
		if path := below(n.path, e.Name); !twice[e.Key] {
			list = append(list, entry{e.Name, d.node(e.Key, path), d.node(e.Value, path)})
		}
	}
	return list
}

// mistake reports what is wrong with the mapping of a path.
func (d *document) mistake(m yamlfile.Mistake, path string, at, first *yaml.Node) {
	n := d.node(at, path)
	switch m {
	case yamlfile.NoName:
		d.fault(n, "a key is "+yamlfile.KindOf(n.Node)+", not text", "write NAME: VALUE")
	case yamlfile.Twice:
		n.path = below(path, n.Value)
		line := d.node(first, "").place.line
		d.fault(n, fmt.Sprintf("is there twice, first in line %d", line), "remove one")
	case yamlfile.NoMapping:
		d.fault(n, "a merge key needs a mapping, not "+yamlfile.KindOf(n.Node),
			"write <<: *NAME of an &NAME before a mapping")
	case yamlfile.InItself:
		d.fault(n, "a merge key makes this mapping part of itself", "remove the merge key")
	}
}

func below(path, name string) string { return strings.TrimPrefix(path+"."+printable(name), ".") }

func (d *document) node(n *yaml.Node, path string) node {
	line, column := d.places.Of(n.Line, n.Column)
	return node{yamlfile.Target(n), place{d.file, line, column}, path}
}

func (d *document) fault(n node, problem, remedy string) {
	d.faults.Add(d.faultAt(n, problem, remedy))
}

func (d *document) faultAt(n node, text, remedy string) fault.Fault {
	return value{place: n.place, path: n.path}.fault(problem{text: text, remedy: remedy})
}

func (d *document) unknown(e entry, known []string) {
	e.key.path = strings.TrimSuffix(strings.TrimSuffix(e.key.path, printable(e.name)), ".")
	remedy := "the keys here are: " + strings.Join(known, ", ")
	if near := fault.Nearest(e.name, known); near != "" {
		remedy = fmt.Sprintf("did you mean %q?", near)
	}
	d.fault(e.key, "unknown key "+quote(e.name), remedy)
}
