package argv

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/sweep/fault"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// MaxFile is the size of a configuration file up to which values are put into it, in bytes.
const MaxFile = 4 << 20

// format reads and writes the files of one format. In memory they are nodes of YAML: those say of
// which kind a value is, where it stands, and in which order.
type format struct {
	null bool // the format has null

	// read returns a document of one mapping. A scalar's Value is as the format writes it.
	read  func(text []byte) (*yaml.Node, *fault.Fault)
	set   func(n *yaml.Node, p space.Assignment)
	write func(document *yaml.Node) ([]byte, error)
}

var formats = map[string]format{
	".yaml": {true, readYAML, setYAML, writeYAML},
	".yml":  {true, readYAML, setYAML, writeYAML},
	".json": {true, readJSON, setJSON, writeJSON},
	".toml": {false, readTOML, setTOML, writeTOML},
}

func parse(f task.File, text []byte) (*document, error) {
	as, known := formats[strings.ToLower(path.Ext(f.From))]
	switch {
	case len(text) > MaxFile:
		return nil, fault.List{{File: f.From,
			Problem: fmt.Sprintf("is longer than %d MiB", MaxFile>>20),
			Remedy:  "keep data in files of their own"}}
	case !known:
		return nil, fault.List{{File: f.From, Problem: "is of no known format",
			Remedy: "name a file that ends with .yaml, .yml, .json or .toml"}}
	}
	d, wrong := &document{format: as, file: f}, (*fault.Fault)(nil)
	if d.root, wrong = as.read(text); wrong == nil && d.top().Kind != yaml.MappingNode {
		wrong = d.fault(d.top(), "is "+kindOfNode(d.top()).String()+", not a mapping",
			"write keys with values into it")
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
	if put, _, err = d.fill(of, named); err != nil {
		return nil, nil, err
	}
	filled, err = d.format.write(d.root)
	return filled, put, err
}

// fill puts parameters into a document.
func (d *document) fill(of []space.Assignment, named []string) (put []space.Assignment,
	notes []fault.Fault, err error) {
	var faults fault.List
	for _, p := range of { // before any value changes that an alias stands for
		d.own(p.Name)
	}
	for _, p := range of {
		n, wrong := d.find(p.Name)
		if wrong == nil {
			wrong = d.unfit(n, p, put)
		}
		switch {
		case n != nil || wrong != nil:
		case slices.Contains(named, p.Name):
			continue
		case !d.file.NewKeys || slices.Contains(strings.Split(p.Name, "."), ""):
			wrong = d.missing(p.Name)
		default:
			wrong = d.add(p.Name)
		}
		if wrong != nil {
			faults.Add(*wrong)
			continue
		}
		path, _ := d.own(p.Name)
		at := path[len(path)-1]
		var replaced []*yaml.Node
		for _, below := range at.Content {
			replaced = appendAll(replaced, below)
		}
		d.format.put(at, p)
		d.put, d.replaced, put = append(d.put, path), append(d.replaced, replaced), append(put, p)
	}
	return put, d.shared(put, &faults), faults.Err()
}

// find is what a file has at a key; nil: it does not have it.
func (d *document) find(name string) (*yaml.Node, *fault.Fault) {
	at := d.paths(name)
	if len(at) == 0 {
		return nil, nil
	}
	n := at[0][len(at[0])-1]
	if len(at) > 1 {
		return nil, d.fault(n, fmt.Sprintf("%s: is there twice, the second time in line %d", name,
			at[1][len(at[1])-1].Line), "keep one of them")
	}
	return n, nil
}

// missing says that a file does not have a parameter's key.
func (d *document) missing(name string) *fault.Fault {
	if merged(d.top(), name) {
		return d.fault(&yaml.Node{}, "has no key "+name+" of its own: it comes by a merge, <<",
			"write the key out beside the <<, which it goes before, or set new-keys: true to have "+
				"it added")
	}
	remedy := "add the key to the file, write {" + name +
		"} in the command, or set new-keys: true to have it added"
	if near := fault.Nearest(name, keysBelow(d.top(), "")); near != "" {
		remedy = fmt.Sprintf("did you mean %q? Otherwise %s", near, remedy)
	}
	return d.fault(&yaml.Node{}, "has no key "+name, remedy)
}

// shared finds aliases of what has been put: their values change with it, which is a fault unless
// they are merges, which are there to take what the other mapping has.
func (d *document) shared(put []space.Assignment, faults *fault.List) (notes []fault.Fault) {
	aliases, merges := map[*yaml.Node]*yaml.Node{}, map[*yaml.Node]*yaml.Node{} // the first of each
	eachAlias(d.root, false, func(n *yaml.Node, merge bool) {
		in := aliases
		if merge {
			in = merges
		}
		if in[n.Alias] == nil {
			in[n.Alias] = n
		}
	})
	for i, p := range put {
		if by := firstOf(d.put[i], aliases); by != nil {
			faults.Add(*d.fault(by, fmt.Sprintf("%s: the alias *%s has its value, which would "+
				"change here, too", p.Name, by.Value), "write the value out here"))
		} else if by := cmp.Or(firstOf(d.replaced[i], aliases),
			firstOf(d.replaced[i], merges)); by != nil {
			faults.Add(*d.fault(by, fmt.Sprintf("%s: the alias *%s has a part of its value, which "+
				"is replaced", p.Name, by.Value), "write the value out here"))
		} else if by := firstOf(d.put[i], merges); by != nil {
			notes = append(notes, *d.fault(by, fmt.Sprintf("%s: the merge of *%s here takes its "+
				"value, too, unless there is a key of its own", p.Name, by.Value), ""))
		}
	}
	return notes
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
	var first []space.Assignment
	for _, v := range of {
		first = append(first, v.All[0])
		n, _ := d.find(v.Name)
		for _, p := range v.All {
			if d.unfit(n, p, nil) != nil {
				first[len(first)-1] = p // which fill refuses
				break
			}
		}
		i := slices.IndexFunc(v.All, func(p space.Assignment) bool {
			return n != nil && changes(kindOfNode(n), kindOf(p))
		})
		word := slices.IndexFunc(v.All, func(p space.Assignment) bool {
			return n != nil && kindOfNode(n) == null && p.Kind == "" && p.Value == "null"
		})
		if word >= 0 {
			notes = append(notes, *d.fault(n, v.Name+` is null, and becomes the text "null"; `+
				"for null write it without quotes", ""))
		}
		if i >= 0 {
			notes = append(notes, *d.fault(n, fmt.Sprintf("%s is %s, and becomes %s with %s",
				v.Name, kindOfNode(n), kindOf(v.All[i]), quoted(v.All[i].Value)), ""))
		}
	}
	_, more, err := d.fill(first, named)
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
