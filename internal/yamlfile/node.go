package yamlfile

import (
	"gopkg.in/yaml.v3"

	"mlframework/sweep/fault"
)

// Target returns the node that an alias stands for; any other node stands for itself.
func Target(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// IsMerge reports whether a key is a merge key: << without quotes.
func IsMerge(key *yaml.Node) bool { return key.Kind == yaml.ScalarNode && key.Tag == "!!merge" }

// IsNull reports whether a node is no value, written or not.
func IsNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// IsBlank reports whether nothing is written where a value could be.
func IsBlank(n *yaml.Node) bool { return IsNull(n) && n.Value == "" }

// IsPlain reports whether a value is written without quotes, block and tag.
func IsPlain(n *yaml.Node) bool {
	return n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|
		yaml.FoldedStyle|yaml.TaggedStyle) == 0
}

// KindOf returns "a mapping", "a list" or "one value".
func KindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	default:
		return "one value"
	}
}

// Describe returns the text of a single value in quotes, and the kind of any other node.
func Describe(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return fault.Quote(n.Value)
	}
	return KindOf(n)
}

// Boolean returns what a word is in YAML 1.2, if it is a boolean.
func Boolean(word string) (is, ok bool) {
	switch word {
	case "true", "True", "TRUE":
		return true, true
	case "false", "False", "FALSE":
		return false, true
	}
	return false, false
}
