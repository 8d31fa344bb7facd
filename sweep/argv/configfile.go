package argv

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

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
	return [...]string{"a value of another kind", "null", "a boolean", "a whole number",
		"a decimal number", "text", "a list", "a mapping"}[k]
}

// kindOf is the kind that a parameter's value has in a file.
func kindOf(p space.Assignment) kind {
	switch _, number := space.Number(p.Value); {
	case p.Kind == space.Switch:
		return boolean
	case p.Kind == space.Text || !number:
		return words
	case strings.ContainsAny(p.Value, ".eE"):
		return decimal
	}
	return whole
}

// changes reports whether a value of another kind than was there may surprise a program: whole
// numbers are decimal ones, too.
func changes(was, is kind) bool {
	return was != is && was != null && was != other && !(was == decimal && is == whole)
}

// entry is what a file has at a key.
type entry struct {
	kind  kind
	alias bool // it stands elsewhere in the file, too
	at    any  // of the format; nil: a table that has several places
}

// document is a file of one format, into which values are put.
type document interface {
	// entries are what the file has, by the keys that lead to it, with dots between them.
	entries() map[string][]entry
	// place is where an entry stands, in characters from 1; 0: in no one place. It reads the text
	// up to there.
	place(e entry) (line, column int)
	set(e entry, p space.Assignment)
	// add adds a key that is not there. The problem is "" where that could be done.
	add(key string, p space.Assignment) (problem, remedy string)
	// shared are places that take the values of others: those that have been put, too. Wrong ones
	// are faults, else they are notes.
	shared() (wrong, notes []fault.Fault)
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
		return nil,
			fault.List{{File: f.From, Problem: fmt.Sprintf("is longer than %d MiB", MaxFile>>20),
				Remedy: "keep data in files of their own"}}
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
		return nil, fault.List{{File: f.From, Problem: "is of no known format",
			Remedy: "name a file that ends with .yaml, .yml, .json or .toml"}}
	}
	if wrong != nil {
		wrong.File = f.From
		return nil, fault.List{*wrong}
	}
	return d, nil
}

// Fill returns a file of the project with a task's parameters at their keys, and the parameters
// that it has a key for. Named are parameters that the command has already: the file need not have
// them. Errors are a fault.List.
func Fill(f task.File, text []byte, of []space.Assignment, named []string) (filled []byte,
	put []space.Assignment, err error) {
	d, err := parse(f, text)
	if err != nil {
		return nil, nil, err
	}
	if put, _, err = fill(d, f, of, named); err != nil {
		return nil, nil, err
	}
	filled, err = d.bytes()
	return filled, put, err
}

// fill puts parameters into a document.
func fill(d document, f task.File, of []space.Assignment, named []string) (put []space.Assignment,
	notes []fault.Fault, err error) {
	all := d.entries()
	var faults fault.List
	for _, p := range of {
		e, found, problem := find(d, all, p.Name)
		switch {
		case problem != nil:
			problem.File = f.From
			faults.Add(*problem)
		case found:
			d.set(e, p)
			put = append(put, p)
		case slices.Contains(named, p.Name):
		case !f.NewKeys, slices.Contains(strings.Split(p.Name, "."), ""):
			faults.Add(missing(f, d, p.Name))
		default:
			if problem, remedy := d.add(p.Name, p); problem != "" {
				faults.Add(fault.Fault{File: f.From, Problem: p.Name + ": " + problem,
					Remedy: remedy})
			}
			all = d.entries()
			put = append(put, p)
		}
	}
	wrong, notes := d.shared()
	for _, w := range wrong {
		w.File = f.From
		faults.Add(w)
	}
	for i := range notes {
		notes[i].File = f.From
	}
	return put, notes, faults.Err()
}

// find is what a file has at a key, as far as a value can stand there.
func find(d document, all map[string][]entry, name string) (e entry, found bool,
	problem *fault.Fault) {
	at := all[name]
	if len(at) == 0 {
		return e, false, nil
	}
	e = at[0]
	wrong := func(text, remedy string) (entry, bool, *fault.Fault) {
		line, column := d.place(e)
		return e, false, &fault.Fault{Line: line, Column: column, Problem: name + ": " + text,
			Remedy: remedy}
	}
	switch {
	case len(at) > 1:
		second, _ := d.place(at[1])
		return wrong(fmt.Sprintf("is there twice, the second time in line %d", second),
			"keep one of them")
	case e.kind == list || e.kind == mapping:
		return wrong("is "+e.kind.String()+", into which no single value goes",
			"name a key below it, or rename the parameter")
	case e.alias:
		return wrong("is part of an alias: its value would change wherever that stands",
			"write the value out")
	}
	return e, true, nil
}

// missing says that a file does not have a parameter's key.
func missing(f task.File, d document, name string) fault.Fault {
	if y, is := d.(*yamlDocument); is && y.merged[name] {
		return fault.Fault{File: f.From, Problem: "has no key " + name +
			" of its own: it comes by a merge, <<",
			Remedy: "write the key out beside the <<, which it goes before, or set new-keys: true " +
				"to have it added"}
	}
	remedy := "add the key to the file, write {" + name +
		"} in the command, or set new-keys: true to have it added"
	if near := fault.Nearest(name, slices.Sorted(maps.Keys(d.entries()))); near != "" {
		remedy = fmt.Sprintf("did you mean %q? Otherwise %s", near, remedy)
	}
	return fault.Fault{File: f.From, Problem: "has no key " + name, Remedy: remedy}
}

// Values are those of one parameter.
type Values struct {
	Name string
	All  []space.Assignment
}

// CheckFile finds what is wrong with putting parameters into a file, and notes values of another
// type than the file has.
func CheckFile(f task.File, text []byte, of []Values, named []string) (notes []fault.Fault,
	err error) {
	d, err := parse(f, text)
	if err != nil {
		return nil, err
	}
	all := d.entries()
	var first []space.Assignment
	for _, v := range of {
		first = append(first, v.All[0])
		e, found, _ := find(d, all, v.Name)
		i := slices.IndexFunc(v.All, func(p space.Assignment) bool {
			return found && changes(e.kind, kindOf(p))
		})
		if i >= 0 {
			line, column := d.place(e)
			notes = append(notes, fault.Fault{File: f.From, Line: line, Column: column,
				Problem: fmt.Sprintf("%s is %s, and becomes %s with %s", v.Name, e.kind,
					kindOf(v.All[i]), quoted(v.All[i].Value))})
		}
	}
	_, more, err := fill(d, f, first, named)
	return append(notes, more...), err
}

// NoFile says that a project does not have the file into which parameters go.
type NoFile struct {
	File string
	Err  error
}

func (e *NoFile) Error() string {
	return "the project has no file " + e.File + ": " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *NoFile) Unwrap() error { return e.Err }

// IsFault reports whether an error is what somebody wrote into a file, or that there is none.
func IsFault(err error) bool {
	_, wrong := errors.AsType[fault.List](err)
	_, missing := errors.AsType[*NoFile](err)
	return wrong || missing
}

// textDocument is a file of which only values are replaced: all else stays as it is, byte for byte.
type textDocument struct {
	text    []byte
	all     map[string][]entry
	splices []splice
	written func(p space.Assignment) string // a value in the format
}

// splice is a part of a text and what takes its place.
type splice struct {
	from, to int
	text     string
}

// span is where a value stands. Of an object in JSON it has the end of the last member, too, and
// what stands before the first.
type span struct {
	from, to  int
	last      int
	separator string
}

func (d *textDocument) entries() map[string][]entry { return d.all }

func (d *textDocument) place(e entry) (line, column int) {
	where, is := e.at.(span)
	if !is {
		return 0, 0
	}
	return placeIn(d.text, where.from)
}

func (d *textDocument) set(e entry, p space.Assignment) {
	where := e.at.(span)
	d.splices = append(d.splices, splice{where.from, where.to, d.written(p)})
}

func (d *textDocument) shared() (wrong, notes []fault.Fault) { return nil, nil }

// bytes returns the text with the splices, which do not overlap.
func (d *textDocument) bytes() ([]byte, error) {
	slices.SortStableFunc(d.splices, func(a, b splice) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, s := range d.splices {
		out = append(append(out, d.text[at:s.from]...), s.text...)
		at = s.to
	}
	return append(out, d.text[at:]...), nil
}

// placeIn is the line and the column, in characters, of an offset.
func placeIn(text []byte, offset int) (line, column int) {
	before := text[:min(max(offset, 0), len(text))]
	line = bytes.Count(before, []byte("\n")) + 1
	return line, utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
}

// intoFile is what to do about a key that cannot be added.
const intoFile = "write the key into the file"

// join is a key below others.
func join(above, key string) string {
	if above == "" {
		return key
	}
	return above + "." + key
}

// addBelow calls add with what a file has above a key and with the rest of the key, the deepest
// first, until one takes it.
func addBelow(all map[string][]entry, name string, add func(above string, e entry,
	rest string) (taken bool, problem, remedy string)) (problem, remedy string) {
	for cut := len(name); cut >= 0; {
		above, rest := "", name
		if cut = strings.LastIndexByte(name[:cut], '.'); cut >= 0 {
			above, rest = name[:cut], name[cut+1:]
		}
		at := all[above]
		if len(at) == 0 {
			continue
		}
		if at[0].kind != mapping {
			return above + " is " + at[0].kind.String(), intoFile
		}
		if taken, problem, remedy := add(above, at[0], rest); taken {
			return problem, remedy
		}
	}
	return "there is no place for it", intoFile
}
