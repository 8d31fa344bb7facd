package yamlfile

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"mlframework/sweep/fault"
)

// Reader reads the values of a file whose keys are known, and collects everything that is wrong in
// it.
type Reader struct {
	File             string
	Faults, Warnings fault.List

	places Places
	visits int  // of nodes
	over   bool // there were too many visits: faults that follow would be of our stopping
}

// maxVisits bounds what aliases and merge keys can make of a small file.
const maxVisits = 100_000

// Open reads the text of a file of one document. The root is a node of kind DocumentNode; it is nil
// where nothing is written in the file, and where the reader has a fault already: the text is not
// YAML, or has a second document.
func Open(file string, data []byte) (r *Reader, root *yaml.Node) {
	text := WithoutMark(string(data))
	r = &Reader{File: file, places: NewPlaces(text)}
	documents, wrong := Read(text, 2)
	switch {
	case wrong != nil:
		wrong.File = file
		r.Faults.Add(*wrong)
	case len(documents) > 1:
		r.Fault(r.Value(documents[1].Content[0], "", ""), "a second document begins here",
			"remove the line --- before it")
	case len(documents) > 0 && !IsNull(documents[0].Content[0]):
		return r, documents[0]
	}
	return r, nil
}

// Value is a node with what a message needs to speak of it. Aliases are resolved: its place is that
// of the text.
type Value struct {
	*yaml.Node          // nil: the whole file
	Line, Column int    // in an editor
	Path         string // "tasks.run_training.timeout"; "" at the top
	Example      string // how the key may be written; "" when there is no telling
}

// Field is one key of a mapping with its value. Both have the path of the value. An aliased key is
// spoken of where it is used.
type Field struct {
	Name       string
	Key, Value Value
}

// Value returns the value of a node.
func (r *Reader) Value(n *yaml.Node, path, example string) Value {
	n = Target(n)
	line, column := r.places.Of(n.Line, n.Column)
	return Value{Node: n, Line: line, Column: column, Path: path, Example: example}
}

func (r *Reader) field(path string, e Entry) Field {
	path = strings.TrimPrefix(path+"."+fault.Printable(e.Name), ".")
	f := Field{Name: e.Name, Key: r.Value(e.Key, path, ""), Value: r.Value(e.Value, path, "")}
	f.Key.Line, f.Key.Column = r.places.Of(e.Key.Line, e.Key.Column)
	return f
}

// FaultAt returns a fault of a value.
func (r *Reader) FaultAt(v Value, problem, remedy string) fault.Fault {
	if v.Path != "" {
		problem = v.Path + ": " + problem
	}
	return fault.Fault{File: r.File, Line: v.Line, Column: v.Column, Problem: problem,
		Remedy: remedy}
}

// Fault notes that a value is wrong.
func (r *Reader) Fault(v Value, problem, remedy string) {
	if !r.over {
		r.Faults.Add(r.FaultAt(v, problem, remedy))
	}
}

// Warn notes that a value may be wrong.
func (r *Reader) Warn(v Value, problem, remedy string) {
	r.Warnings.Add(r.FaultAt(v, problem, remedy))
}

// Wrong notes a fault whose remedy is to write the example.
func (r *Reader) Wrong(v Value, problem string) {
	remedy := ""
	if v.Example != "" {
		remedy = "write " + v.Example
	}
	r.Fault(v, problem, remedy)
}

// Unknown notes that a mapping has none of the known keys but another.
func (r *Reader) Unknown(mapping Value, key Field, known []string) {
	key.Key.Path = mapping.Path
	r.Fault(key.Key, "unknown key "+fault.Quote(key.Name),
		fault.Meant(key.Name, known, "the keys here are: "+strings.Join(known, ", ")))
}

// visit counts n visits of nodes, and reports whether to go on.
func (r *Reader) visit(v Value, n int) bool {
	if r.visits += n; r.visits > maxVisits {
		r.Fault(v, fmt.Sprintf("aliases and merge keys repeat more than %d values", maxVisits),
			"write fewer of them")
		r.over = true
	}
	return !r.over
}

// Usable refuses a value that is empty or has a tag of its own, whatever kind is wanted.
func (r *Reader) Usable(v Value) bool {
	known := []string{"!!str", "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq"}
	if v.Style&yaml.TaggedStyle != 0 && !slices.Contains(known, v.Tag) {
		r.Fault(v, fmt.Sprintf("the tag %s has no meaning here", fault.Printable(v.Tag)),
			"remove it")
		return false
	}
	if IsNull(v.Node) {
		r.Wrong(v, "has no value")
		return false
	}
	return true
}

// List returns the elements of a list, each usable or not.
func (r *Reader) List(v Value) ([]Value, bool) {
	if !r.Usable(v) {
		return nil, false
	}
	if v.Kind != yaml.SequenceNode {
		r.Wrong(v, "is "+Describe(v.Node)+", not a list")
		return nil, false
	}
	if !r.visit(v, 1+len(v.Content)) {
		return nil, false
	}
	elements := make([]Value, len(v.Content))
	for i, n := range v.Content {
		elements[i] = r.Value(n, fmt.Sprintf("%s[%d]", v.Path, i), "")
	}
	return elements, true
}

// Mapping returns the fields of a mapping with what it merges (<<), no name twice.
func (r *Reader) Mapping(v Value) (all []Field, ok bool) {
	if !r.Usable(v) {
		return nil, false
	}
	if v.Kind != yaml.MappingNode {
		r.Wrong(v, "is "+Describe(v.Node)+", not a mapping")
		return nil, false
	}
	m := Mapping{
		Enter: func(n *yaml.Node) bool { return r.visit(r.Value(n, v.Path, ""), 1+len(n.Content)) },
		Wrong: func(m Mistake, at, first *yaml.Node) { r.mistake(v.Path, m, at, first) },
	}
	names := map[string]bool{}
	for _, e := range m.Entries(v.Node) {
		if !names[e.Name] { // the second of two equal keys is a fault
			all = append(all, r.field(v.Path, e))
		}
		names[e.Name] = true
	}
	return all, !r.over
}

func (r *Reader) mistake(path string, m Mistake, at, first *yaml.Node) {
	switch v := r.Value(at, path, ""); {
	case m == NoName:
		r.Fault(v, "a key is "+Describe(v.Node)+", not text", "write NAME: VALUE")
	case m == NoMapping:
		r.Fault(v, "a merge key needs a mapping, not "+Describe(v.Node),
			"write <<: *NAME of an &NAME before a mapping")
	case m == InItself:
		r.Fault(v, "a merge key makes this mapping part of itself", "remove the merge key")
	case !IsMerge(at):
		line, _ := r.places.Of(first.Line, first.Column)
		r.Fault(r.field(path, Entry{v.Value, at, at}).Key,
			fmt.Sprintf("is there twice, first in line %d", line), "remove one")
	}
}

// Text returns a single value as it is written, quotes and escapes resolved.
func (r *Reader) Text(v Value) (string, bool) {
	if !r.Usable(v) {
		return "", false
	}
	if v.Kind != yaml.ScalarNode {
		r.Wrong(v, "is "+Describe(v.Node)+", not a single value")
		return "", false
	}
	return v.Value, true
}

// Word returns text that is not empty and has no control characters.
func (r *Reader) Word(v Value) (string, bool) {
	text, ok := r.Text(v)
	switch {
	case !ok:
		return "", false
	case text == "":
		r.Wrong(v, "is empty")
		return "", false
	case strings.ContainsFunc(text, unicode.IsControl):
		r.Fault(v, fault.Quote(text)+" holds a control character", "remove it")
		return "", false
	}
	return text, true
}
