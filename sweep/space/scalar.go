package space

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// unknownTagRemedy names the tags that mean something here.
const unknownTagRemedy = "remove it; !!str makes text, !interval or !!python/tuple an interval"

// oldBooleans are what YAML 1.1, and so the reader that this one replaces, took for booleans beside true and false.
// (Nor did that one take y and n.)
var oldBooleans = map[string]bool{
	"yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"no": true, "No": true, "NO": true, "off": true, "Off": true, "OFF": true,
}

// scalar reads one value: text as it stands in the file, or a switch.
func (r *reader) scalar(e entry, at *yaml.Node) (value, bool) {
	n := target(at)
	switch scalarTag(n) {
	case "text":
		if n.Style == 0 && oldBooleans[n.Value] {
			r.note(at, show(e.name)+": "+n.Value+" is text, although older readers took it for a boolean",
				"write true or false if a switch is meant, or put it in quotes")
		}
		if strings.ContainsRune(n.Value, 0) {
			r.fault(at, show(e.name)+": the value has a NUL character, which no command line can hold", "remove it")
			return value{}, false
		}
		return value{text: n.Value}, true
	case "switch":
		if v, ok := switchOf(n.Value); ok {
			return v, true
		}
		r.fault(at, show(e.name)+": "+show(n.Value)+" is not a boolean", "write true or false")
	case "null":
		r.fault(r.nullPlace(e, at), show(e.name)+": no value", `write a value, "" for an empty one, or remove the parameter`)
	default:
		r.fault(at, show(e.name)+": the tag "+n.Tag+" is not known", unknownTagRemedy)
	}
	return value{}, false
}

// scalarTag sorts the tags of scalars, the explicit ones and those that the parser gives to plain text. The text, int,
// float and timestamp of the file are all text to us: values are passed on, not computed with.
func scalarTag(n *yaml.Node) string {
	switch n.Tag {
	case "!!str", "!!int", "!!float", "!!timestamp", "!!merge",
		"!!python/str", "!!python/unicode", "!!python/int", "!!python/long", "!!python/float":
		return "text"
	case "!!bool", "!!python/bool":
		return "switch"
	case "!!null", "!!python/none":
		return "null"
	default:
		return "unknown"
	}
}

// switchOf knows the booleans of YAML 1.2.
func switchOf(text string) (v value, ok bool) {
	switch text {
	case "true", "True", "TRUE":
		return value{text: "true", flag: true}, true
	case "false", "False", "FALSE":
		return value{text: "false", flag: true}, true
	default:
		return value{}, false
	}
}

// nullPlace is the key when the value is not written at all: the parser puts such a value somewhere after it.
func (r *reader) nullPlace(e entry, at *yaml.Node) *yaml.Node {
	if at == e.value && at.Value == "" {
		return e.key
	}
	return at
}
