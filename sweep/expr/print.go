package expr

import (
	"strings"
	"unicode"
)

// String returns the expression as it can be parsed again with the same names, which gives the same
// expression; "" for one that always holds.
func (e *Expr) String() string {
	if e.root == nil {
		return ""
	}
	var b strings.Builder
	e.root.print(&b, 0)
	return b.String()
}

// Strengths of binding.
const (
	orStrength = iota + 1
	andStrength
	notStrength
	compareStrength
	sumStrength
	productStrength
	signStrength
	wholeStrength
)

func (n *node) strength() int {
	switch n.kind {
	case orNode:
		return orStrength
	case andNode:
		return andStrength
	case notNode:
		return notStrength
	case compareNode, inNode, patternNode:
		return compareStrength
	case arithmeticNode:
		if n.op == plus || n.op == minus {
			return sumStrength
		}
		return productStrength
	case signNode:
		return signStrength
	default:
		return wholeStrength
	}
}

// print writes the node, in parentheses if it binds less than it has to.
func (n *node) print(b *strings.Builder, least int) {
	s := n.strength()
	if s < least {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	switch n.kind {
	case orNode:
		n.binary(b, " or ", s)
	case andNode:
		n.binary(b, " and ", s)
	case notNode:
		b.WriteString("not ")
		n.args[0].print(b, s)
	case compareNode:
		n.args[0].print(b, s+1)
		b.WriteString(" " + n.op.String() + " ")
		n.args[1].print(b, s+1)
	case inNode:
		n.args[0].print(b, s+1)
		if n.op == differs {
			b.WriteString(" not")
		}
		b.WriteString(" in [")
		printAll(b, n.args[1:])
		b.WriteByte(']')
	case patternNode:
		n.args[0].print(b, s+1)
		b.WriteString(" " + n.op.String() + " " + quote(n.word, '\''))
	case arithmeticNode:
		n.binary(b, " "+n.op.String()+" ", s)
	case signNode:
		b.WriteString("- ")
		n.args[0].print(b, s)
	case callNode:
		b.WriteString(n.call.name + "(")
		printAll(b, n.args)
		b.WriteByte(')')
	case slotNode:
		b.WriteString(Name(n.word))
	default:
		b.WriteString(n.literal())
	}
}

func (n *node) binary(b *strings.Builder, op string, strength int) {
	n.args[0].print(b, strength)
	b.WriteString(op)
	n.args[1].print(b, strength+1)
}

func printAll(b *strings.Builder, nodes []*node) {
	for i, n := range nodes {
		if i > 0 {
			b.WriteString(", ")
		}
		n.print(b, 0)
	}
}

func (n *node) literal() string {
	if n.isText() && (n.quoted || !isBoolean(n.word)) {
		return Quote(n.word)
	}
	return n.word
}

// Name returns a name as it stands in an expression: in backquotes where it could be taken for
// something else.
func Name(name string) string {
	_, isNumber := constant(name)
	plain := name != "" && !isNumber && strings.IndexFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '.'
	}) < 0
	switch strings.ToLower(name) {
	case "and", "or", "not", "in":
		plain = false
	}
	if plain {
		return name
	}
	return quote(name, '`')
}

// Quote returns text as it stands in an expression: in quotes, and never a name or a number.
func Quote(text string) string { return quote(text, '\'') }

func quote(text string, mark byte) string {
	var b strings.Builder
	b.WriteByte(mark)
	for i := range len(text) {
		if text[i] == mark || text[i] == '\\' {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	b.WriteByte(mark)
	return b.String()
}
