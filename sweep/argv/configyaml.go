package argv

import (
	"bytes"
	"errors"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
	"mlframework/sweep/space"
)

func readYAML(text []byte) (*yaml.Node, *fault.Fault) {
	documents, wrong := yamlfile.Read(yamlfile.WithoutMark(string(text)), 2)
	switch {
	case wrong != nil:
		return nil, wrong
	case len(documents) == 0:
		return nil, &fault.Fault{Problem: "is empty", Remedy: "write its keys"}
	case len(documents) > 1:
		return nil, &fault.Fault{Line: documents[1].Line, Problem: "has a second document",
			Remedy: "keep one document in it"}
	}
	return documents[0], nil
}

func setYAML(n *yaml.Node, p space.Assignment) {
	was := *n
	n.Value, n.Tag, n.Style = p.Value, "", 0
	switch kindOf(p) {
	case null:
		n.Tag = "!!null"
	case words:
		n.Tag, n.Style = "!!str", was.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle)
		if n.Style == 0 && mustQuote(p.Value) {
			n.Style = yaml.DoubleQuotedStyle
		}
	case decimal, whole:
		n.Value = yamlNumber(p.Value, was.Value)
	}
}

// oldWords are text here, and booleans, null or a merge to readers of YAML 1.1.
var oldWords = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null|~|<<|)$`)

// oldNumbers are text here, and numbers or times to readers of YAML 1.1.
var oldNumbers = regexp.MustCompile(`^[-+.0-9]`)

// mustQuote reports whether text needs quotes: in several lines it would become a block, which a
// key of empty lines cannot be.
func mustQuote(text string) bool {
	return oldWords.MatchString(text) || oldNumbers.MatchString(text) ||
		strings.Contains(text, "\n")
}

// dotless is a number that readers of YAML 1.1, such as PyYAML, take for text.
var dotless = regexp.MustCompile(`^([-+]?[0-9]+)(\.[0-9]*)?([eE])([-+]?)([0-9]+)$`)

// yamlNumber is a number as both versions of YAML read it: 1e-3 is 1.0e-3, unless the file had such
// a number there.
func yamlNumber(text, was string) string {
	text, _ = space.Number(text)
	m := dotless.FindStringSubmatch(text)
	if old := dotless.FindStringSubmatch(was); m == nil || old != nil &&
		(old[2] == "" || old[4] == "") {
		return text
	}
	if m[2] == "" {
		m[2] = ".0"
	}
	if m[4] == "" {
		m[4] = "+"
	}
	return strings.Join(m[1:], "")
}

// text is a node of a text.
func text(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if mustQuote(s) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

func writeYAML(document *yaml.Node) ([]byte, error) {
	plainMerges(document)
	keepMeaning(document)
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	err := errors.Join(encoder.Encode(document), encoder.Close())
	return b.Bytes(), err
}

// keepMeaning rewrites values that the library would write with another meaning, and reports whether
// a node has to be in block style: in flow style, the library quotes an empty value and a plain one
// with a colon, such as a time. It also breaks the lines of folded text anew.
func keepMeaning(n *yaml.Node) (block bool) {
	if n.Kind == yaml.ScalarNode {
		if n.Value == "" && n.ShortTag() == "!!null" {
			n.Value = "null"
		}
		if n.Style&yaml.FoldedStyle != 0 {
			n.Style = n.Style&^yaml.FoldedStyle | yaml.LiteralStyle
		}
		return n.Style == 0 && strings.Contains(n.Value, ":")
	}
	for _, c := range n.Content {
		block = keepMeaning(c) || block
	}
	if block {
		n.Style &^= yaml.FlowStyle
	}
	return block
}

// plainMerges leaves the << of merges without their tag, which the library would write out.
func plainMerges(n *yaml.Node) {
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && yamlfile.IsMerge(c) {
			c.Tag = ""
		}
		plainMerges(c)
	}
}
