package space

import (
	"fmt"
	"math"
	"regexp"
	"strconv"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
)

// Read reads the text of a parameters.yml. The name of the file is used in messages only.
//
// The error is a fault.List with every fault of the file, in its order; a file that is not YAML has
// one, the first. The notes are what a person should see before anything runs, also in file order:
// equal values in one list, text that old readers took for a boolean or that looks like a slip, a
// quoted string that is read as an interval, a rule that removes nothing, a file without
// parameters. Changes are applied to what the file says.
func Read(file string, data []byte, changes ...Change) (s *Space, notes fault.List, err error) {
	if len(data) > maxFile {
		return nil, nil, fault.List{{File: file, Line: 1, Column: 1,
			Problem: fmt.Sprintf("the file has %d MB, and at most %d MB are read", len(data)>>20,
				maxFile>>20),
			Remedy: "write numbers as an interval: !interval [0, 3000000]"}}
	}
	text := yamlfile.WithoutMark(string(data))
	r := &reader{file: file, places: yamlfile.NewPlaces(text), text: text,
		lists:   map[*yaml.Node]list{},
		singles: map[*yaml.Node]single{},
		labels:  map[*yaml.Node]fault.Fault{}, changes: map[string]bool{}}
	documents, first := documentsOf(text)
	if first != nil {
		first.File = file
		return nil, nil, fault.List{*first}
	}
	o := r.outline(documents)
	o.sections = r.sections(o.rules)
	o.completing = r.completing(o.sections)
	for _, c := range changes {
		r.change(&o, c)
	}
	s = r.space(o)
	r.notes.Sort()
	if err := r.faults.Err(); err != nil {
		return nil, r.notes, err
	}
	return s, r.notes, nil
}

// maxFile is the size in bytes of the largest file that is read: a master takes no larger request.
const maxFile = 16 << 20

var lineEnd = regexp.MustCompile(`\r\n|\r|\n`)

// reader collects what is wrong and what is noteworthy in one file.
type reader struct {
	file          string
	places        yamlfile.Places
	text          string
	faults, notes fault.List
	ranged        int                   // values of all ranges
	lists         map[*yaml.Node]list   // those read so far
	singles       map[*yaml.Node]single // values of points, where several points may have one
	distinct      bool                  // equal points are run once

	// What a command line changes: parameters that it sets, those that it says repeat, the rest;
	// and the argument that a node stands in if it does not stand in the file.
	altered bool
	changes map[string]bool
	repeats []argument
	changed Change
	labels  map[*yaml.Node]fault.Fault
}

// list is the outcome of reading a list. Aliases of one list share it, so that a file of many
// aliases of a long list takes no more memory, and repeats no fault.
type list struct {
	values []value
	span   *interval // of a range of many whole numbers
	ok     bool
}

// single is the outcome of reading one value.
type single struct {
	value value
	ok    bool
}

func (r *reader) at(n *yaml.Node, problem, remedy string) fault.Fault {
	if label, is := r.labels[n]; is {
		label.Problem, label.Remedy = problem, remedy
		return label
	}
	line, column := r.places.Of(n.Line, n.Column)
	return fault.Fault{File: r.file, Line: line, Column: column, Problem: problem, Remedy: remedy}
}

func (r *reader) fault(n *yaml.Node, problem, remedy string) {
	r.faults.Add(r.at(n, problem, remedy))
}

func (r *reader) note(n *yaml.Node, problem, remedy string) {
	r.notes.Add(r.at(n, problem, remedy))
}

// outline is the parts of a file.
type outline struct {
	entries  []entry    // parameters that vary by themselves
	rows     []row      // an explicit list of points
	defaults []entry    // what points of the list have if they say nothing else
	rules    *yaml.Node // the mapping of the second document; nil: there is none
	sections sections   // of that mapping

	completing []entry // defaults of the second document
}

// outline checks the outline of a file.
func (r *reader) outline(documents []*yaml.Node) (o outline) {
	if len(documents) > 2 {
		r.fault(documents[2], "a third document",
			"keep two: the parameters, and the rules for their combinations")
	}
	if len(documents) > 1 && !yamlfile.IsBlank(documents[1].Content[0]) {
		o.rules = r.rules(documents[1].Content[0])
		r.distinct = true
	}
	if len(documents) == 0 || yamlfile.IsBlank(documents[0].Content[0]) {
		r.notes.Add(fault.Fault{File: r.file, Problem: "no parameters: one task without flags"})
		return o
	}
	top := documents[0].Content[0]
	switch {
	case isPoints(top):
		r.distinct = true
		o.rows = r.rows(top)
		return o
	case isJob(top):
		r.distinct = true
		r.note(top, "read as a list of points: those of tasks, with what job says for all of them",
			"")
		o.defaults, o.rows = r.job(top)
		return o
	case top.Kind != yaml.MappingNode:
		r.fault(top, "the file is "+yamlfile.KindOf(top)+", not parameters with their values",
			"write lines such as lr: [0.1, 0.01]")
		return o
	}
	if len(top.Content) == 0 {
		r.note(top, "no parameters: one task without flags", "")
	}
	o.entries = r.entries(top)
	if o.rules == nil {
		o.entries = r.noteRuleNames(o.entries)
	}
	return o
}

// tooMany is said of the parameter with which a space outgrows its index.
var tooMany = "with this parameter there are more than " + strconv.FormatInt(math.MaxInt64, 10) +
	" combinations"

func plural[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
