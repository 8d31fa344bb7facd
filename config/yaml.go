package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"mlframework/sweep/fault"
)

// text is what a config.yml says, before anybody asks whether the options are good.
type text struct {
	file             string
	at               folders
	root             *yaml.Node // nil for a file without content
	values           map[string]value
	overrides        []override
	faults, warnings fault.List
	budget           int // entries that may still be visited: merge keys multiply
}

// maxEntries bounds what merge keys can make of a small file.
const maxEntries = 20_000

// node is a node with its place and what messages call it. Aliases are resolved; the place is where the alias stands.
type node struct {
	*yaml.Node
	place place
	path  string // "overrides.gpu1.slots"
}

// entry is one key of a mapping with its value.
type entry struct {
	name string
	key  node // its path is the value's
	node node
}

func readYAML(file string, data []byte, at folders) *text {
	t := &text{file: file, at: at, values: map[string]value{}, budget: maxEntries}
	root, err := parse(data)
	if err != nil {
		t.faults.Add(t.syntax(err))
		return t
	}
	if len(root) == 0 || isNull(root[0]) {
		return t
	}
	top := t.node(root[0], "")
	switch {
	case len(root) > 1:
		t.fault(t.node(root[1], ""), "a second document begins here", "remove the line --- before it")
	case top.Kind == yaml.MappingNode && top.Style&yaml.FlowStyle != 0:
		t.fault(top, "the file is written in braces", "write a key to a line: master: 1")
	default:
		t.root = root[0]
		t.readTop(top)
	}
	return t
}

func (t *text) readTop(top node) {
	known := []string{"overrides"}
	for _, o := range table {
		known = append(known, o.name)
	}
	entries, _ := t.mapping(top, "master: 1")
	for _, e := range entries {
		i := slices.IndexFunc(table, func(o option) bool { return o.name == e.name })
		switch {
		case e.name == "overrides" && isNull(e.node.Node): // all of them are comments
		case e.name == "overrides":
			t.readOverrides(e.node)
		case i >= 0:
			if v, ok := t.option(table[i], e.node); ok {
				t.values[e.name] = v
			}
		case slices.Contains(overrideNames(), e.name):
			t.fault(e.key, "does not belong at the top of the file", "write it below a host: overrides: {gpu1: {"+e.name+": ...}}")
		default:
			t.unknown(e.key, e.name, known)
		}
	}
}

// option reads what stands for one option: a word, or a list of words.
func (t *text) option(o option, n node) (value, bool) {
	if !o.list || n.Kind == yaml.ScalarNode {
		word, ok := t.word(n)
		return single(o, File, n.place, n.path, word), ok
	}
	v := value{kind: File, place: n.place, path: n.path}
	elements, ok := t.sequence(n)
	for _, e := range elements {
		word, good := t.word(e)
		ok = ok && good
		v.words, v.elements = append(v.words, word), append(v.elements, e.place)
	}
	return v, ok
}

func (t *text) node(n *yaml.Node, path string) node {
	at := place{t.file, n.Line, n.Column}
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return node{n, at, path}
}

func (t *text) fault(n node, problem, remedy string) {
	t.faults.Add(t.faultAt(n, problem, remedy))
}

func (t *text) faultAt(n node, problem, remedy string) fault.Fault {
	if n.path != "" {
		problem = n.path + ": " + problem
	}
	return fault.Fault{File: t.file, Line: n.place.line, Column: n.place.column, Problem: problem, Remedy: remedy}
}

func (t *text) unknown(key node, name string, known []string) {
	key.path = strings.TrimSuffix(strings.TrimSuffix(key.path, printable(name)), ".")
	remedy := "the keys here are: " + strings.Join(known, ", ")
	if near := fault.Nearest(name, known); near != "" {
		remedy = fmt.Sprintf("did you mean %q?", near)
	}
	t.fault(key, "unknown key "+quote(name), remedy)
}

// word returns a single value as it is written, quotes and escapes resolved.
func (t *text) word(n node) (string, bool) {
	switch {
	case n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode:
		t.fault(n, "is "+kindName(n.Kind)+", not a single value", "write one value")
	case isNull(n.Node):
		t.fault(n, "has no value", "write one, or remove the key")
	case !plainTag(n.Node):
		t.fault(n, fmt.Sprintf("the tag %s has no meaning here", printable(n.Tag)), "remove it")
	case n.Value == "":
		t.fault(n, "is empty", "write a value, or remove the key")
	case strings.ContainsFunc(n.Value, unicode.IsControl):
		t.fault(n, quote(n.Value)+" holds a control character", "remove it")
	default:
		return n.Value, true
	}
	return "", false
}

func (t *text) sequence(n node) ([]node, bool) {
	if n.Kind != yaml.SequenceNode {
		t.fault(n, "is "+kindName(n.Kind)+", not a list", "write [a, b]")
		return nil, false
	}
	elements := make([]node, len(n.Content))
	for i, c := range n.Content {
		elements[i] = t.node(c, fmt.Sprintf("%s[%d]", n.path, i))
	}
	return elements, true
}

// parse returns the content of at most two documents: the second is one too many.
func parse(data []byte) (documents []*yaml.Node, err error) {
	defer func() {
		// The parser panics on some texts that it took apart wrongly.
		if p := recover(); p != nil {
			documents, err = nil, fmt.Errorf("yaml: %v", p)
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for len(documents) < 2 {
		var document yaml.Node
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if len(document.Content) > 0 {
			documents = append(documents, document.Content[0])
		}
	}
	return documents, nil
}

var parserLine = regexp.MustCompile(`^line (\d+): `)

// syntax puts the parser's words for a text that is not YAML into ours. It names the line where the parser gave up.
func (t *text) syntax(err error) fault.Fault {
	words, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := parserLine.FindStringSubmatch(words); m != nil {
		line, _ = strconv.Atoi(m[1])
		words = words[len(m[0]):]
	}
	return fault.Fault{File: t.file, Line: line, Problem: "is not YAML: " + printable(words),
		Remedy: "look there and just above: indent with spaces, and put what holds : # [ { or * in quotes"}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// isMerge is true for an unquoted <<.
func isMerge(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "<<" && n.Tag == "!!merge"
}

// plainTag is true without a tag, and for those that every reader of YAML knows.
func plainTag(n *yaml.Node) bool {
	known := []string{"!!str", "!!int", "!!float", "!!bool", "!!null"}
	return n.Style&yaml.TaggedStyle == 0 || slices.Contains(known, n.Tag)
}

func kindName(k yaml.Kind) string {
	switch k {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a mapping"
	}
	return "a single value"
}

// printable repeats text in a message without quotes.
func printable(text string) string {
	if r := []rune(text); len(r) > maxQuoted {
		text = string(r[:maxQuoted]) + "…"
	}
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return unicode.ReplacementChar
	}, text)
}
