package config

import (
	"reflect"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
)

// document is what a cluster.yml says.
type document struct {
	*yamlfile.Reader
	at        folders
	root      *yaml.Node // of kind DocumentNode; nil for a file without content
	values    map[string]value
	overrides []override
}

func readYAML(file string, data []byte, at folders) *document {
	d := &document{at: at, values: map[string]value{}}
	if d.Reader, d.root = yamlfile.Open(file, data); d.root != nil {
		d.top(d.Value(d.root.Content[0], "", "master: 1"))
	}
	return d
}

func (d *document) top(v yamlfile.Value) {
	all, _ := d.Mapping(v)
	for _, f := range all {
		o := named(options, f.Name)
		switch {
		case f.Name == "overrides" && yamlfile.IsNull(f.Value.Node): // all of them are comments
		case f.Name == "overrides":
			d.readOverrides(f.Value)
		case o != nil:
			if v, ok := d.words(f.Value, o.kind); ok {
				d.values[f.Name] = v
			}
		case named(hostOptions, f.Name) != nil:
			d.Fault(f.Key, "does not belong at the top of the file",
				"write it below a host: overrides: {gpu1: {"+f.Name+": ...}}")
		default:
			d.Unknown(v, f, append(names(options), "overrides"))
		}
	}
}

// fields reads a mapping into the struct of that schema. Keys that are not accepted are left out.
func (d *document) fields(v yamlfile.Value, schema []option, into reflect.Value,
	accept func(option, yamlfile.Field) bool) {
	all, _ := d.Mapping(v)
	for _, f := range all {
		o := named(schema, f.Name)
		switch {
		case o == nil:
			d.Unknown(v, f, names(schema))
		case !accept(*o, f):
		case o.kind.name != nil:
			pairs := d.pairs(f.Value, o.kind.name)
			into.Field(o.field).Set(reflect.ValueOf(pairs))
		case o.kind.parse == nil:
			f.Value.Example = "limits: {memory: 64g, shm: 16g, pids: 4096}"
			d.fields(f.Value, limitOptions, into.Field(o.field),
				func(option, yamlfile.Field) bool { return true })
		default:
			v, ok := d.words(f.Value, o.kind)
			if !ok {
				continue
			}
			for _, p := range o.set(into, v.words) {
				d.Faults.Add(v.fault(p))
			}
			if o.path {
				f := into.Field(o.field)
				f.SetString(d.at.resolve(f.String()))
			}
		}
	}
}

// pairs reads a mapping of names to texts; an empty text is one.
func (d *document) pairs(v yamlfile.Value, check func(string) (problem, bool)) (list []Pair) {
	v.Example = "{NAME: value}"
	all, _ := d.Mapping(v)
	for _, f := range all {
		if p, warning := check(f.Name); p.text != "" && warning {
			d.Warn(f.Key, p.text, p.remedy)
		} else if p.text != "" {
			d.Fault(f.Key, p.text, p.remedy)
		}
		if v := f.Value; v.Kind == yaml.ScalarNode && v.Value == "" && !yamlfile.IsNull(v.Node) {
			list = append(list, Pair{Name: f.Name})
		} else if word, ok := d.word(v); ok {
			list = append(list, Pair{f.Name, word})
		}
	}
	return list
}

// words reads what is written for one option: a text, or a list of texts.
func (d *document) words(of yamlfile.Value, k kind) (v value, ok bool) {
	v = value{kind: File, place: d.placeOf(of), path: of.Path}
	if !k.list || of.Kind == yaml.ScalarNode {
		word, ok := d.word(of)
		return v.text(k.list, word), ok
	}
	of.Example = "[a, b]"
	all, ok := d.List(of)
	for _, e := range all {
		word, good := d.word(e)
		ok = ok && good
		v.words, v.elements = append(v.words, word), append(v.elements, d.placeOf(e))
	}
	if len(all) == 0 && k.none != "" {
		v.words = []string{k.none}
	}
	return v, ok
}

// word returns a single value that is not empty.
func (d *document) word(v yamlfile.Value) (string, bool) {
	v.Example = "a value, or remove the key"
	return d.Word(v)
}

func (d *document) placeOf(v yamlfile.Value) place { return place{d.File, v.Line, v.Column} }
