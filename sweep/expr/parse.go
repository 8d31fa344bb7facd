package expr

import (
	"fmt"
	"strings"
)

// Bounds of an expression: every viewer of the monitor can send one.
const (
	maxLength = 10_000 // bytes
	maxDepth  = 100    // of parentheses, calls, signs and not
)

// Parse reads an expression. Empty text always holds. Its error is an [*Error].
func Parse(text string, names Names) (*Expr, error) {
	if len(text) > maxLength {
		return nil, &Error{Column: 1, Problem: "the expression is too long",
			Remedy: fmt.Sprintf("use at most %d bytes", maxLength)}
	}
	p := &parser{lexer: lexer{rest: text, at: 1}, names: names}
	p.advance(anOperand)
	if p.wrong == nil && p.token.kind == endToken {
		return &Expr{}, nil
	}
	root := p.or()
	if p.wrong == nil {
		p.condition(root)
	}
	if p.wrong == nil && p.token.kind != endToken {
		p.unexpected()
	}
	if p.wrong != nil {
		return nil, p.wrong
	}
	return &Expr{root}, nil
}

// parser reads by recursive descent. A node is nil after a fault, and only then.
type parser struct {
	lexer
	names Names
	depth int
}

// enter is called where recursion begins; the caller takes 1 from depth afterwards.
func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.token.at, "the expression is nested too deep",
			fmt.Sprintf("use at most %d levels", maxDepth))
	}
}

func (p *parser) isWord(word string) bool {
	return p.token.kind == wordToken && strings.EqualFold(p.token.text, word)
}

func (p *parser) unexpected() *node {
	return p.fail(p.token.at, fmt.Sprintf("unexpected %q", Shorten(p.token.text)),
		"join comparisons with and, or")
}

// condition refuses a value where something has to hold.
func (p *parser) condition(n *node) {
	if n != nil && n.isValue() {
		remedy := "write one of = != < <= > >= ~ !~ in and a value"
		if n.kind == slotNode {
			remedy += ", or " + shown(Shorten(Name(n.word))) + " = true if it is a boolean"
		}
		p.fail(p.token.at, "a comparison is missing after "+shown(p.last.text), remedy)
	}
}

func (p *parser) or() *node { return p.joined("or", orNode, p.and) }

func (p *parser) and() *node { return p.joined("and", andNode, p.not) }

func (p *parser) joined(word string, kind nodeKind, part func() *node) *node {
	n := part()
	for n != nil && p.isWord(word) {
		p.condition(n)
		p.advance(anOperand)
		b := part()
		p.condition(b)
		if p.wrong != nil {
			return nil
		}
		n = &node{kind: kind, args: []*node{n, b}}
	}
	return n
}

func (p *parser) not() *node {
	if !p.isWord("not") {
		return p.comparison()
	}
	p.advance(anOperand)
	p.enter()
	n := p.not()
	p.depth--
	p.condition(n)
	if p.wrong != nil {
		return nil
	}
	return &node{kind: notNode, args: []*node{n}}
}

func (p *parser) comparison() *node {
	left := p.sum()
	if left == nil || !left.isValue() {
		return left
	}
	switch op := p.token; {
	case op.op == matches || op.op == matchesNot:
		p.advance(aPattern)
		return p.patterned(left, op)
	case op.kind == operatorToken:
		p.advance(anOperand)
		right := p.value(p.sum(), op)
		return p.compared(compareNode, op.op, op.at, left, right)
	case p.isWord("in"):
		return p.list(left, equals)
	case p.isWord("not"):
		p.advance(anOperator)
		if !p.isWord("in") {
			return p.fail(op.at, "a comparison is missing after "+shown(sourceEnd(left)),
				"write not before it, or not in")
		}
		return p.list(left, differs)
	}
	return left
}

// sourceEnd is what a value ends with, for messages.
func sourceEnd(n *node) string {
	if n.kind <= literalNode {
		return n.word
	}
	return ")"
}

// list reads what follows in; op is differs after not.
func (p *parser) list(left *node, op operator) *node {
	in := p.token
	p.advance(aList)
	open := p.token
	if !open.is("[") {
		return p.fail(open.at, "a list is missing after in", "write one, such as in [1, 2]")
	}
	right := p.separated("]", open)
	return p.compared(inNode, op, in.at, left, right...)
}

// separated reads values with commas between them and the bracket that closes them; nil after a
// fault.
func (p *parser) separated(closing string, open token) (values []*node) {
	p.lists++
	for {
		op := p.token
		p.advance(anOperand)
		v := p.value(p.sum(), op)
		values = append(values, v)
		switch {
		case v == nil:
			return nil
		case p.token.is(","):
			continue
		case p.token.kind == endToken:
			p.unclosed(open, closing)
			return nil
		case !p.token.is(closing):
			p.fail(p.token.at, fmt.Sprintf("unexpected %q", Shorten(p.token.text)),
				"write a comma between values")
			return nil
		}
		p.lists--
		p.advance(anOperator)
		return values
	}
}

func (p *parser) unclosed(open token, closing string) *node {
	return p.fail(open.at, fmt.Sprintf("this %s is never closed", open.text), "add a "+closing)
}

// value refuses a condition where a value has to stand.
func (p *parser) value(n *node, op token) *node {
	if n != nil && !n.isValue() {
		return p.fail(op.at, fmt.Sprintf("%s needs a value, and a comparison follows it",
			shown(op.text)),
			"write a value there")
	}
	return n
}

func (p *parser) sum() *node { return p.chain(p.product, plus, minus) }

func (p *parser) product() *node { return p.chain(p.operand, times, divided, modulo) }

func (p *parser) chain(part func() *node, ops ...operator) *node {
	n := part()
	for n != nil && n.isValue() && p.isOne(ops) {
		op := p.token
		if n = p.numeric(n, op); n == nil {
			return nil
		}
		p.advance(anOperand)
		if op.op == times && p.token.op == times && p.token.joined {
			return p.power(n, op)
		}
		b := p.numeric(part(), op)
		if b == nil {
			return nil
		}
		n = &node{kind: arithmeticNode, op: op.op, at: op.at, args: []*node{n, b}}
	}
	return n
}

// power says how to write one, which is not an operator.
func (p *parser) power(base *node, op token) *node {
	var b strings.Builder
	base.print(&b, wholeStrength)
	text := shown(b.String())
	if len(text) > 80 {
		text = "x"
	}
	return p.fail(op.at, "there is no operator **", "write a product, "+text+" * "+text)
}

func (p *parser) isOne(ops []operator) bool {
	for _, o := range ops {
		if p.token.op == o {
			return true
		}
	}
	return false
}

// operand reads one value, or a condition in parentheses.
func (p *parser) operand() *node {
	t := p.token
	switch {
	case t.kind == wordToken:
		p.advance(anOperator)
		if p.token.is("(") && (p.token.joined || functions[t.text] != nil) {
			return p.call(t)
		}
		return p.word(t)
	case t.kind == quotedToken:
		p.advance(anOperator)
		text := Value{Kind: Text, Text: t.text}
		return &node{kind: literalNode, at: t.at, value: text, word: t.text, quoted: true}
	case t.kind == nameToken:
		p.advance(anOperator)
		return p.name(t.text, t.at)
	case t.is("("):
		return p.group()
	case t.op == minus:
		return p.sign()
	case p.wrong != nil:
		return nil
	case p.lists == 0 && (p.last.kind == endToken || p.last.is("(") || p.last.kind == wordToken):
		return p.fail(t.at, "a comparison is missing here", "write NAME = VALUE")
	}
	return p.missing()
}

// missing says that there is no value where one has to be.
func (p *parser) missing() *node {
	return p.fail(p.token.at, "a value is missing after "+shown(p.last.text),
		"write one; quote it if it has spaces or ( ) = < > ~ ! * in it")
}

func (p *parser) group() *node {
	open := p.token
	p.advance(anOperand)
	p.enter()
	n := p.or()
	p.depth--
	switch {
	case n == nil:
		return nil
	case p.token.kind == endToken:
		return p.unclosed(open, ")")
	case !p.token.is(")"):
		if p.condition(n); p.wrong == nil {
			p.unexpected()
		}
		return nil
	}
	p.advance(anOperator)
	return n
}

func (p *parser) sign() *node {
	op := p.token
	p.advance(anOperand)
	p.enter()
	n := p.numeric(p.operand(), op)
	p.depth--
	if n == nil {
		return nil
	}
	return &node{kind: signNode, at: op.at, args: []*node{n}}
}

// call reads the arguments of a function; the token is the parenthesis that opens them.
func (p *parser) call(name token) *node {
	f := functions[name.text]
	if f == nil {
		return p.fail(name.at, fmt.Sprintf("there is no function %q", Shorten(name.text)),
			"the functions are "+functionNames())
	}
	p.enter()
	args := p.separated(")", p.token)
	p.depth--
	for _, a := range args {
		p.numeric(a, name)
	}
	if p.wrong == nil && f.takes(len(args)) != "" {
		p.fail(name.at, f.name+" takes "+f.takes(len(args)), "write "+f.example())
	}
	if p.wrong != nil {
		return nil
	}
	return &node{kind: callNode, at: name.at, args: args, call: f}
}
