package definition

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
)

// maxNodes bounds what aliases and merge keys can make of a small file: each visit of a node
// counts.
const maxNodes = 100_000

// value is a node with what a message needs to speak of it. Aliases are resolved: its place is that
// of the text.
type value struct {
	*yaml.Node
	path    string // "tasks.run_training.timeout"; "" at the top
	example string // how the key may be written; "" when there is no telling
}

// entry is one key of a mapping with its value.
type entry struct {
	name  string
	key   value // its path is the one of the value
	value value
}

func (r *reader) at(n *yaml.Node, path, example string) value {
	return value{Node: yamlfile.Target(n), path: path, example: example}
}

func (r *reader) faultAt(v value, problem, remedy string) fault.Fault {
	f := fault.Fault{File: r.file, Problem: problem, Remedy: remedy}
	if v.path != "" {
		f.Problem = v.path + ": " + problem
	}
	if v.Node != nil {
		f.Line, f.Column = v.Line, v.Column
	}
	return f
}

func (r *reader) fault(v value, problem, remedy string) {
	if !r.stopped {
		r.faults.Add(r.faultAt(v, problem, remedy))
	}
}

func (r *reader) warn(v value, problem, remedy string) {
	r.warnings.Add(r.faultAt(v, problem, remedy))
}

// wrong is a fault whose way out is the example.
func (r *reader) wrong(v value, problem string) {
	remedy := ""
	if v.example != "" {
		remedy = "write " + v.example
	}
	r.fault(v, problem, remedy)
}

// spend counts n visited nodes and says whether to go on.
func (r *reader) spend(v value, n int) bool {
	if r.budget -= n; r.budget < 0 && !r.stopped {
		r.fault(v, fmt.Sprintf("aliases and merge keys repeat more than %d values", maxNodes),
			"write fewer of them")
		r.stopped = true
	}
	return !r.stopped
}

// usable refuses a value that is empty or has a tag of its own, whatever kind is wanted.
func (r *reader) usable(v value) bool {
	known := []string{"!!str", "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq"}
	if v.Style&yaml.TaggedStyle != 0 && !slices.Contains(known, v.Tag) {
		r.fault(v, fmt.Sprintf("the tag %s has no meaning here", printable(v.Tag)), "remove it")
		return false
	}
	if yamlfile.IsNull(v.Node) {
		r.wrong(v, "has no value")
		return false
	}
	return true
}

// sequence returns the elements of a list, each usable or not.
func (r *reader) sequence(v value) ([]value, bool) {
	if !r.usable(v) {
		return nil, false
	}
	if v.Kind != yaml.SequenceNode {
		r.wrong(v, "is "+describe(v.Node)+", not a list")
		return nil, false
	}
	if !r.spend(v, 1+len(v.Content)) {
		return nil, false
	}
	elements := make([]value, len(v.Content))
	for i, n := range v.Content {
		elements[i] = r.at(n, fmt.Sprintf("%s[%d]", v.path, i), "")
	}
	return elements, true
}

// mapping returns the entries of a mapping, merge keys resolved, no name twice.
func (r *reader) mapping(v value) ([]entry, bool) {
	if !r.usable(v) {
		return nil, false
	}
	if v.Kind != yaml.MappingNode {
		r.wrong(v, "is "+describe(v.Node)+", not a mapping")
		return nil, false
	}
	return r.entries(v), !r.stopped
}

// describe names a node's kind, and a single value by its text.
func describe(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return quote(n.Value)
	}
	return yamlfile.KindOf(n)
}
