package expr

import "regexp"

type nodeKind uint8

const (
	slotNode nodeKind = iota
	literalNode
	signNode       // - of its argument
	arithmeticNode // op is one of plus to modulo
	callNode
	compareNode // op is one of equals to greaterOrEqual
	inNode      // its first argument is one of the others (op is equals), or none of them (differs)
	patternNode // op is matches or matchesNot
	andNode
	orNode
	notNode
)

// node is a part of an expression. Those up to callNode are values, the others hold or do not.
type node struct {
	kind  nodeKind
	op    operator
	at    int // column: of a binary one, its operator's
	args  []*node
	slot  int
	value Value // of a literal

	word    string // the name of a slot; a literal, or a pattern, as it was written, without quotes
	quoted  bool
	pattern *regexp.Regexp
	call    *function
}

func (n *node) isValue() bool { return n.kind <= callNode }

// isText reports whether the node is a literal that is no number.
func (n *node) isText() bool { return n.kind == literalNode && n.value.Kind == Text }

// each calls visit with the node and everything below it.
func (n *node) each(visit func(*node)) {
	visit(n)
	for _, a := range n.args {
		a.each(visit)
	}
}

// looks reports whether the node looks at any slot.
func (n *node) looks() bool {
	found := false
	n.each(func(n *node) { found = found || n.kind == slotNode })
	return found
}

// operator is an operator of a comparison or of arithmetic.
type operator uint8

const (
	noOperator operator = iota
	equals
	differs
	less
	lessOrEqual
	greater
	greaterOrEqual
	matches
	matchesNot
	plus
	minus
	times
	divided
	modulo
)

// written is how operators are written, longer ones before those that they begin with.
var written = []struct {
	text string
	op   operator
}{
	{"==", equals}, {"!=", differs}, {"!~", matchesNot}, {"<=", lessOrEqual},
	{">=", greaterOrEqual},
	{"=", equals}, {"<", less}, {">", greater}, {"~", matches},
	{"+", plus}, {"-", minus}, {"*", times}, {"/", divided}, {"%", modulo},
}

func (o operator) String() string {
	for _, w := range written[1:] { // not ==
		if w.op == o {
			return w.text
		}
	}
	return ""
}
