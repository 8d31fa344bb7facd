package yamlfile

import "gopkg.in/yaml.v3"

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
		yaml.FoldedStyle|
		yaml.TaggedStyle) == 0
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
