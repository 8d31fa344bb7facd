package space

import (
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
)

// entry is a key with its value: a parameter, or a rule of the second document, before it is read.
type entry = yamlfile.Entry

// entries returns the keys of a mapping, and of those merged into it, with their values.
func (r *reader) entries(mapping *yaml.Node) []entry {
	if mapping.Tag != "!!map" && mapping.Tag != "!!python/dict" {
		r.fault(mapping, "the tag "+mapping.Tag+" is not known", "remove it")
	}
	return yamlfile.Mapping{Wrong: r.wrongMapping, Name: r.checkName}.Entries(mapping)
}

func (r *reader) wrongMapping(m yamlfile.Mistake, at, first *yaml.Node) {
	kind := yamlfile.KindOf(yamlfile.Target(at))
	switch m {
	case yamlfile.NoName:
		r.fault(at, kind+" cannot be the name of a parameter", "write a name")
	case yamlfile.Twice:
		line, _ := r.places.Of(first.Line, first.Column)
		r.fault(at, show(yamlfile.Target(at).Value)+": is there twice, first on line "+
			strconv.Itoa(line), "write all of it in one place")
	case yamlfile.NoMapping:
		r.fault(at, "<<: "+kind+" cannot be merged", "name a mapping or a list of mappings")
	case yamlfile.InItself: // it adds nothing
	}
}

func (r *reader) checkName(key *yaml.Node) {
	if problem, remedy := nameProblem(yamlfile.Target(key).Value); problem != "" {
		r.fault(key, problem, remedy)
	}
}

// nameProblem says why a key cannot be the name of a flag, or "".
func nameProblem(name string) (problem, remedy string) {
	cannot := strconv.Quote(name) + " cannot be the name of a flag: "
	switch {
	case name == "":
		return cannot + "it is empty", "write a name"
	case strings.ContainsFunc(name, func(r rune) bool { return r != ' ' && unicode.IsControl(r) }):
		return cannot + "it has a control character", "remove it"
	case strings.ContainsFunc(name, unicode.IsSpace):
		return cannot + "it has a space", "write " + strings.Join(strings.Fields(name), "_")
	case strings.Contains(name, "="):
		return cannot + "it has a =", "write the value after a colon"
	case strings.HasPrefix(name, "-"):
		return cannot + "it begins with -", "write it without: the dashes of a flag are added"
	default:
		return "", ""
	}
}
