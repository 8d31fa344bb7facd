package space

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
)

const (
	// maxNested is the maximum length of a list or a mapping that is one value, in bytes of JSON.
	maxNested = 64 << 10
	// maxHinted is the maximum length of one that is shown in a remedy.
	maxHinted = 60
)

// nested reads a list or a mapping that is one value.
func (r *reader) nested(e entry) (value, bool) {
	w := nestedWriter{at: e.Value, fault: func(n *yaml.Node, problem, remedy string) {
		r.fault(n, show(e.Name)+": "+problem, remedy)
	}, mapping: r.wrongMapping}
	before := len(r.faults)
	w.write(e.Value)
	return value{string(w.text), JSON}, !w.failed && len(r.faults) == before
}

// jsonOf returns a list or a mapping in JSON if it can be one value and is short.
func jsonOf(n *yaml.Node) (text string, ok bool) {
	w := nestedWriter{fault: func(*yaml.Node, string, string) {},
		mapping: func(yamlfile.Mistake, *yaml.Node, *yaml.Node) {}}
	w.write(n)
	return string(w.text), !w.failed && len(w.text) > len("{}") && len(w.text) <= maxHinted
}

// nestedOf returns the value of a text in JSON: null, a list or a mapping.
func nestedOf(text string) (v value, ok bool) {
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(text)) != nil || compact.String() != text {
		return v, false
	}
	switch text[0] {
	case '[', '{':
		return value{text, JSON}, true
	}
	return value{"null", Null}, text == "null"
}

// nestedWriter writes a list or a mapping as JSON.
type nestedWriter struct {
	at      *yaml.Node // the value
	text    []byte
	open    []*yaml.Node // lists and mappings around
	failed  bool
	fault   func(n *yaml.Node, problem, remedy string)
	mapping func(m yamlfile.Mistake, at, first *yaml.Node)
}

func (w *nestedWriter) wrong(n *yaml.Node, problem, remedy string) {
	if !w.failed {
		w.fault(n, problem, remedy)
	}
	w.failed = true
}

func (w *nestedWriter) write(at *yaml.Node) {
	const remedy = "write out its values, or give it a parameter of its own"
	n := yamlfile.Target(at)
	switch {
	case w.failed:
	case slices.Contains(w.open, n):
		w.wrong(at, yamlfile.KindOf(n)+" in itself", "write its values out")
	case len(w.text) > maxNested:
		w.wrong(w.at, fmt.Sprintf("one value of more than %d KiB", maxNested>>10),
			"write it to a file and name that")
	case isRange(n) || isSpan(n):
		w.wrong(at, "a range inside a value", remedy)
	case isInterval(n):
		w.wrong(at, "an interval inside a value", remedy)
	case n.Kind == yaml.ScalarNode:
		w.scalar(at, n)
	case n.Kind == yaml.SequenceNode && isPlainList(n):
		w.inside(n, '[', ']', len(n.Content), func(i int) { w.write(n.Content[i]) })
	case n.Kind == yaml.MappingNode && (n.Tag == "!!map" || n.Tag == "!!python/dict"):
		all := yamlfile.Mapping{Wrong: func(m yamlfile.Mistake, at, first *yaml.Node) {
			w.mapping(m, at, first)
			w.failed = true
		}}.Entries(n)
		w.inside(n, '{', '}', len(all), func(i int) {
			w.quoted(all[i].Key, all[i].Name)
			w.text = append(w.text, ':')
			w.write(all[i].Value)
		})
	default:
		w.wrong(at, "the tag "+n.Tag+" is not known", "remove it")
	}
}

func (w *nestedWriter) inside(n *yaml.Node, open, end byte, count int, each func(i int)) {
	w.open = append(w.open, n)
	w.text = append(w.text, open)
	for i := range count {
		if i > 0 {
			w.text = append(w.text, ',')
		}
		each(i)
	}
	w.text = append(w.text, end)
	w.open = w.open[:len(w.open)-1]
}

func (w *nestedWriter) scalar(at, n *yaml.Node) {
	number, isNumber := Number(n.Value)
	switch scalarTag(n) {
	case "text":
		if isNumber && n.Tag != "!!str" {
			w.text = append(w.text, number...)
			return
		}
		w.quoted(at, n.Value)
	case "switch":
		on, ok := yamlfile.Boolean(n.Value)
		if !ok {
			w.wrong(at, show(n.Value)+" is not a boolean", "write true or false")
		}
		w.text = fmt.Append(w.text, on)
	case "null":
		w.text = append(w.text, "null"...)
	default:
		w.wrong(at, "the tag "+n.Tag+" is not known", "remove it")
	}
}

func (w *nestedWriter) quoted(at *yaml.Node, text string) {
	quoted, err := quoteJSON(text)
	if err != nil {
		w.wrong(at, err.Error(), "write text")
	}
	w.text = append(w.text, quoted...)
}
