package space

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/sweep/fault"
)

// Read reads the text of a parameters.yml. The name of the file is used in messages only.
//
// The error is a fault.List with every fault of the file, in its order; a file that is not YAML has one, the first. The
// notes are what a person should see before anything runs, also in file order: equal values in one list, text that old
// readers took for a boolean, a quoted string that is read as an interval, a file without parameters.
func Read(file string, data []byte) (s *Space, notes fault.List, err error) {
	text := strings.TrimPrefix(string(data), "\ufeff") // Windows editors begin a file with it
	r := &reader{file: file, places: newPlaces(text), lists: map[*yaml.Node]list{}}
	documents, first := documentsOf(text)
	if first != nil {
		first.File = file
		return nil, nil, fault.List{*first}
	}
	s = r.space(r.entries(documents))
	r.notes.Sort()
	if err := r.faults.Err(); err != nil {
		return nil, r.notes, err
	}
	return s, r.notes, nil
}

// reader collects what is wrong and what is noteworthy in one file.
type reader struct {
	file          string
	places        places
	faults, notes fault.List
	lists         map[*yaml.Node]list // those read so far
}

// list is the outcome of reading a list. Aliases of one list share it, so that a file of many aliases of a long list
// takes no more memory, and repeats no fault.
type list struct {
	values []value
	ok     bool
}

func (r *reader) at(n *yaml.Node, problem, remedy string) fault.Fault {
	line, column := r.places.of(n.Line, n.Column)
	return fault.Fault{File: r.file, Line: line, Column: column, Problem: problem, Remedy: remedy}
}

func (r *reader) fault(n *yaml.Node, problem, remedy string) { r.faults.Add(r.at(n, problem, remedy)) }
func (r *reader) note(n *yaml.Node, problem, remedy string)  { r.notes.Add(r.at(n, problem, remedy)) }

// entries checks the outline of the file and returns its keys with their values.
func (r *reader) entries(documents []*yaml.Node) []entry {
	if len(documents) > 1 {
		const reserved = "a second document is reserved for zip, exclude, where, include, repeat and sample"
		r.fault(documents[1], reserved+", which do not work yet", "remove it, from the line with ---")
	}
	if len(documents) == 0 || blank(documents[0].Content[0]) {
		r.notes.Add(fault.Fault{File: r.file, Problem: "no parameters: one task without flags"})
		return nil
	}
	top := documents[0].Content[0]
	if top.Kind != yaml.MappingNode {
		r.fault(top, "the file is "+kindName(top)+", not parameters with their values", "write lines such as lr: [0.1, 0.01]")
		return nil
	}
	if top.Tag != "!!map" && top.Tag != "!!python/dict" {
		r.fault(top, "the tag "+top.Tag+" is not known", "remove it")
	}
	if len(top.Content) == 0 {
		r.note(top, "no parameters: one task without flags", "")
	}
	f := flattener{reader: r, taken: map[string]bool{}, seen: map[*yaml.Node]bool{}}
	return f.entries(top)
}

// space makes the parameters; one that is faulty is left out of the count.
func (r *reader) space(entries []entry) *Space {
	parameters := make([]parameter, 0, len(entries))
	keys := make([]*yaml.Node, 0, len(entries))
	for _, e := range entries {
		if p, ok := r.parameter(e); ok {
			parameters, keys = append(parameters, p), append(keys, e.key)
		}
	}
	s, overflow, ok := newSpace(parameters)
	if !ok {
		r.fault(keys[overflow], show(parameters[overflow].name)+": "+tooMany, "use fewer values, or split the sweep")
	}
	return s
}

// tooMany is said of the parameter with which a space outgrows its index.
var tooMany = "with this parameter there are more than " + strconv.FormatInt(math.MaxInt64, 10) + " combinations"

func blank(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Tag == "!!null"
}

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	default:
		return "one value"
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
