package argv

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"mlframework/sweep/fault"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// MaxFile is the size of a configuration file up to which values are put into it, in bytes.
const MaxFile = 4 << 20

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
	return [...]string{"a value of another kind", "null", "a boolean", "a whole number", "a decimal number", "text", "a list", "a mapping"}[k]
}

// kindOf is the kind that a parameter's value has in a file.
func kindOf(p task.Parameter) kind {
	switch _, number := space.Number(p.Value); {
	case p.Kind == task.Switch:
		return boolean
	case p.Kind == task.Text || !number:
		return words
	case strings.ContainsAny(p.Value, ".eE"):
		return decimal
	}
	return whole
}

// changes reports whether a value of another kind than was there may surprise a program: whole numbers are decimal ones, too.
func changes(was, is kind) bool {
	return was != is && was != null && was != other && !(was == decimal && is == whole)
}

// entry is what a file has at a key.
type entry struct {
	line, column int
	kind         kind
	alias        bool // it stands elsewhere in the file, too
	at           any  // of the format
}

// document is a file of one format, into which values are put.
type document interface {
	// entries are what the file has, by the keys that lead to it, with dots between them.
	entries() map[string][]entry
	set(e entry, p task.Parameter)
	// add adds a key that is not there. The problem is "" where that could be done.
	add(key string, p task.Parameter) (problem string)
	bytes() ([]byte, error)
}

// Format is the format of a file, by its ending; "": none that is known.
func Format(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml":
		return "YAML"
	case ".json":
		return "JSON"
	case ".toml":
		return "TOML"
	}
	return ""
}

func parse(f task.File, text []byte) (document, error) {
	if len(text) > MaxFile {
		return nil, fault.List{{File: f.From, Problem: fmt.Sprintf("is longer than %d MiB", MaxFile>>20), Remedy: "keep data in files of their own"}}
	}
	var d document
	var wrong *fault.Fault
	switch Format(f.From) {
	case "YAML":
		d, wrong = parseYAML(text)
	case "JSON":
		d, wrong = parseJSON(text)
	case "TOML":
		d, wrong = parseTOML(text)
	default:
		return nil, fault.List{{File: f.From, Problem: "is of no known format", Remedy: "name a file that ends with .yaml, .yml, .json or .toml"}}
	}
	if wrong != nil {
		wrong.File = f.From
		return nil, fault.List{*wrong}
	}
	return d, nil
}

// Fill is a file of the project with a task's parameters at their keys. Errors are a fault.List. Named are parameters that the
// command has already: the file need not have them.
func Fill(f task.File, text []byte, of []task.Parameter, named []string) ([]byte, error) {
	d, err := parse(f, text)
	if err != nil {
		return nil, err
	}
	all := d.entries()
	var faults fault.List
	for _, p := range of {
		e, found, problem := find(all, p.Name)
		switch {
		case problem != nil:
			problem.File = f.From
			faults.Add(*problem)
		case found:
			d.set(e, p)
		case slices.Contains(named, p.Name):
		case !f.NewKeys, slices.Contains(strings.Split(p.Name, "."), ""):
			faults.Add(missing(f, all, p.Name))
		default:
			if problem := d.add(p.Name, p); problem != "" {
				faults.Add(fault.Fault{File: f.From, Problem: p.Name + ": " + problem, Remedy: "write the key into the file"})
			}
			all = d.entries()
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return d.bytes()
}

// find is what a file has at a key, as far as a value can stand there.
func find(all map[string][]entry, name string) (e entry, found bool, problem *fault.Fault) {
	at := all[name]
	if len(at) == 0 {
		return e, false, nil
	}
	e = at[0]
	wrong := func(text, remedy string) (entry, bool, *fault.Fault) {
		return e, false, &fault.Fault{Line: e.line, Column: e.column, Problem: name + ": " + text, Remedy: remedy}
	}
	switch {
	case len(at) > 1:
		return wrong(fmt.Sprintf("is there twice, the second time in line %d", at[1].line), "keep one of them")
	case e.kind == list || e.kind == mapping:
		return wrong("is "+e.kind.String()+", into which no single value goes", "name a key below it, or rename the parameter")
	case e.alias:
		return wrong("is part of an alias: its value would change wherever that stands", "write the value out")
	}
	return e, true, nil
}

// missing says that a file does not have a parameter's key.
func missing(f task.File, all map[string][]entry, name string) fault.Fault {
	remedy := "add the key to the file, write {" + name + "} in the command, or set new-keys: true to have it added"
	if near := fault.Nearest(name, slices.Sorted(maps.Keys(all))); near != "" {
		remedy = fmt.Sprintf("did you mean %q? Otherwise %s", near, remedy)
	}
	return fault.Fault{File: f.From, Problem: "has no key " + name, Remedy: remedy}
}

// Values are those of one parameter.
type Values struct {
	Name string
	All  []task.Parameter
}

// CheckFile finds what is wrong with putting parameters into a file, and notes values of another type than the file has.
func CheckFile(f task.File, text []byte, of []Values, named []string) (notes []fault.Fault, err error) {
	d, err := parse(f, text)
	if err != nil {
		return nil, err
	}
	all := d.entries()
	var first []task.Parameter
	for _, v := range of {
		first = append(first, v.All[0])
		e, found, _ := find(all, v.Name)
		i := slices.IndexFunc(v.All, func(p task.Parameter) bool { return found && changes(e.kind, kindOf(p)) })
		if i >= 0 {
			notes = append(notes, fault.Fault{File: f.From, Line: e.line, Column: e.column,
				Problem: fmt.Sprintf("%s is %s, and becomes %s with %s", v.Name, e.kind, kindOf(v.All[i]), quoted(v.All[i].Value))})
		}
	}
	_, err = Fill(f, text, first, named)
	return notes, err
}

// NoFile says that a project does not have the file into which parameters go.
type NoFile struct {
	File string
	Err  error
}

func (e *NoFile) Error() string { return "the project has no file " + e.File + ": " + e.Err.Error() }

// Unwrap gives the cause.
func (e *NoFile) Unwrap() error { return e.Err }

// IsFault reports whether an error is what somebody wrote into a file, or that there is none.
func IsFault(err error) bool {
	_, wrong := errors.AsType[fault.List](err)
	_, missing := errors.AsType[*NoFile](err)
	return wrong || missing
}

// splice is a part of a text and what takes its place.
type splice struct {
	from, to int
	text     string
}

// spliced is a text with splices, which do not overlap.
func spliced(text []byte, all []splice) []byte {
	slices.SortStableFunc(all, func(a, b splice) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, s := range all {
		out = append(append(out, text[at:s.from]...), s.text...)
		at = s.to
	}
	return append(out, text[at:]...)
}

// placeIn is the line and the column, in characters, of an offset.
func placeIn(text []byte, offset int) (line, column int) {
	before := string(text[:min(max(offset, 0), len(text))])
	line = strings.Count(before, "\n") + 1
	return line, len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
}

// join is a key below others.
func join(above, key string) string {
	if above == "" {
		return key
	}
	return above + "." + key
}

// parents yields the ways to cut a key into those of something that is there and the rest, the longest first.
func parents(name string) func(func(above, rest string) bool) {
	return func(yield func(above, rest string) bool) {
		for cut := strings.LastIndexByte(name, '.'); cut >= 0; cut = strings.LastIndexByte(name[:cut], '.') {
			if !yield(name[:cut], name[cut+1:]) {
				return
			}
		}
		yield("", name)
	}
}
