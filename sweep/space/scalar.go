package space

import (
	"cmp"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
)

// oldBooleans are what YAML 1.1, and so the reader that this one replaces, took for booleans beside
// true and false. (Nor did that one take y and n.)
var oldBooleans = map[string]bool{
	"yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"no": true, "No": true, "NO": true, "off": true, "Off": true, "OFF": true,
}

// scalar reads one value: text as it stands in the file, a switch, or null.
func (r *reader) scalar(e entry, at *yaml.Node) (value, bool) {
	n := yamlfile.Target(at)
	switch scalarTag(n) {
	case "text":
		if n.Style == 0 && oldBooleans[n.Value] {
			r.note(at,
				show(e.Name)+": "+n.Value+" is text, although older readers took it for a boolean",
				"write true or false if a switch is meant, or put it in quotes")
		}
		if n.Style == 0 {
			r.noteSlip(e, at, n.Value)
		}
		if strings.ContainsRune(n.Value, 0) {
			r.fault(at,
				show(e.Name)+": the value has a NUL character, which no command line can hold",
				"remove it")
			return value{}, false
		}
		_, number := Number(n.Value)
		v := value{text: n.Value}
		if number && n.Tag == "!!str" {
			v.kind = Text
		}
		return v, true
	case "switch":
		if v, ok := switchOf(n.Value); ok {
			return v, true
		}
		r.fault(at, show(e.Name)+": "+show(n.Value)+" is not a boolean", "write true or false")
	case "null":
		if n.Value != "" {
			return value{"null", Null}, true
		}
		r.fault(r.nullPlace(e, at), show(e.Name)+": no value",
			`write a value, "" for an empty one, null for none, or remove the parameter`)
	default:
		r.unknownTag(e, at)
	}
	return value{}, false
}

// scalarTag sorts the tags of scalars, the explicit ones and those that the parser gives to plain
// text. The text, int, float and timestamp of the file are all text to us: values are passed on,
// not computed with.
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

// switchOf returns the switch that a text is; false: it is none.
func switchOf(text string) (v value, ok bool) {
	if _, ok = yamlfile.Boolean(text); ok {
		return value{text, Switch}, true
	}
	return value{text: text}, false
}

// number matches decimal numbers as JSON and older notations have them, but for leading zeros: 007
// is a name.
var number = regexp.MustCompile(`^([-+]?)(0|[1-9][0-9]*)?(?:\.([0-9]*))?([eE][-+]?[0-9]+)?$`)

// Number returns a decimal number as JSON writes it, with the spelling that it has where JSON
// allows that: .5 is 0.5 there. What is no such number, as 007, 0x10 or .inf, is false.
func Number(text string) (string, bool) {
	if text == "" || strings.IndexByte("+-.0123456789", text[0]) < 0 {
		return "", false
	}
	if isWhole(text) {
		return text, true
	}
	m := number.FindStringSubmatch(text)
	if m == nil || m[2] == "" && m[3] == "" {
		return "", false
	}
	sign, whole, fraction := strings.TrimPrefix(m[1], "+"), cmp.Or(m[2], "0"), ""
	if strings.Contains(text, ".") {
		fraction = "." + cmp.Or(m[3], "0")
	}
	return sign + whole + fraction + m[4], true
}

// isWhole reports whether text is a whole number as JSON writes it, without a sign: most numbers
// are.
func isWhole(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text[0] != '0' || len(text) == 1
}

// nullPlace returns the key when the value is not written at all: the parser puts such a value
// somewhere after it.
func (r *reader) nullPlace(e entry, at *yaml.Node) *yaml.Node {
	if at == e.Value && at.Value == "" {
		return e.Key
	}
	return at
}
