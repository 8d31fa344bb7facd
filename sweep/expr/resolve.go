package expr

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// word is what a bare word means, whatever stands beside it.
func (p *parser) word(t token) *node {
	n := &node{kind: literalNode, at: t.at, word: t.text}
	if v, ok := constant(t.text); ok {
		n.value = v
	} else if slot, ok := p.names.Lookup(t.text); ok {
		n.kind, n.slot = slotNode, slot
	} else {
		n.value = Value{Kind: Text, Text: t.text}
	}
	return n
}

// name is a word that has to be a name.
func (p *parser) name(word string, at int) *node {
	if slot, ok := p.names.Lookup(word); ok {
		return &node{kind: slotNode, at: at, slot: slot, word: word}
	}
	problem, remedy := p.names.Unknown(word)
	p.fail(at, problem, remedy)
	p.wrong.Unknown = word
	return nil
}

// bare is a bare word that is no name where one is needed, or could be meant to be several.
func (p *parser) bare(n *node) *node {
	if !p.isGlued(n.word) {
		return p.name(n.word, n.at)
	}
	if p.wrong == nil {
		p.fail(n.at, fmt.Sprintf("%q is one word", Shorten(n.word)),
			"put spaces around + - / % to calculate, or quotes around text")
		p.wrong.Unknown = n.word
	}
	return nil
}

// isGlued reports whether a word is made of names, and perhaps numbers, joined by operators.
func (p *parser) isGlued(word string) bool {
	names := false
	inner := func(r rune) bool { return r < utf8.RuneSelf && isInner(byte(r)) }
	parts := strings.FieldsFunc(word, inner)
	for _, part := range parts {
		_, isName := p.names.Lookup(part)
		if _, isNumber := constant(part); !isName && !isNumber {
			return false
		}
		names = names || isName
	}
	return names
}

// numeric refuses text where a number has to stand, before or after an operator or in a call.
func (p *parser) numeric(n *node, op token) *node {
	switch {
	case n == nil || p.wrong != nil:
		return nil
	case !n.isValue():
		return p.value(n, op)
	case !n.isText():
		return n
	case !n.quoted:
		return p.bare(n)
	}
	return p.fail(n.at, fmt.Sprintf("%q is text, and %s needs a number", Shorten(n.word), op.text),
		"write a name that needs quotes in backquotes")
}

// compared makes a comparison of a value with others.
func (p *parser) compared(kind nodeKind, op operator, at int, left *node, right ...*node) *node {
	if p.wrong != nil {
		return p.unknownLeft(left)
	}
	args := []*node{p.left(left, right)}
	for _, r := range right {
		args = append(args, p.right(args[0], r))
	}
	if p.wrong != nil {
		return nil
	}
	return &node{kind: kind, op: op, at: at, args: args}
}

// unknownLeft is called after a fault on the right side. A name on the left that there is not comes
// first.
func (p *parser) unknownLeft(n *node) *node {
	if n.isText() {
		later := p.wrong
		p.wrong = nil
		if p.left(n, nil); p.wrong == nil {
			p.wrong = later
		}
	}
	return nil
}

// left resolves a literal that stands alone on the left of a comparison: it is a name if there is
// one, however it is written.
func (p *parser) left(n *node, right []*node) *node {
	if n.kind != literalNode {
		return n
	}
	if slot, ok := p.names.Lookup(n.word); ok {
		return &node{kind: slotNode, at: n.at, slot: slot, word: n.word}
	}
	for _, r := range right {
		if v, ok := p.read(n, r); ok {
			return &node{kind: literalNode, at: n.at, value: v, word: n.word}
		}
		if p.wrong != nil {
			return nil
		}
		if r.looks() && (n.quoted || !n.isText()) {
			return n
		}
	}
	if n.quoted {
		return p.name(n.word, n.at)
	}
	return p.bare(n)
}

// right resolves a literal that a comparison compares its left side with.
func (p *parser) right(left, n *node) *node {
	if left == nil || n.kind != literalNode {
		return n
	}
	if v, ok := p.read(n, left); ok {
		return &node{kind: literalNode, at: n.at, value: v, word: n.word}
	}
	if n.isText() && !n.quoted && p.isGlued(n.word) {
		return p.bare(n)
	}
	return n
}

// read reads a bare word in the units of what it is compared with.
func (p *parser) read(n, with *node) (Value, bool) {
	names, ok := p.names.(Reader)
	if !ok || with.kind != slotNode || n.quoted {
		return Value{}, false
	}
	v, ok, wrong := names.Literal(with.slot, n.word)
	if wrong != nil && p.wrong == nil {
		p.fail(n.at, wrong.Problem, wrong.Remedy)
	}
	return v, ok
}

// patterned makes a comparison of a value with a regular expression, which is the token.
func (p *parser) patterned(left *node, op token) *node {
	t := p.token
	if p.wrong != nil {
		return p.unknownLeft(left)
	}
	if left = p.left(left, nil); left == nil {
		return nil
	}
	if t.kind != wordToken && t.kind != quotedToken {
		return p.missing()
	}
	pattern, err := regexp.Compile(t.text)
	if err != nil {
		problem := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return p.fail(t.at, shown(problem), "write a regular expression as in Go (RE2)")
	}
	p.advance(anOperator)
	return &node{kind: patternNode, op: op.op, at: op.at, args: []*node{left},
		word: t.text, pattern: pattern}
}

// shown is text that is safe to show: what is not printable becomes an escape.
func shown(text string) string {
	quoted := strconv.Quote(text)
	if !strings.Contains(text, `\`) {
		quoted = strings.ReplaceAll(quoted, `\"`, `"`)
	}
	return quoted[1 : len(quoted)-1]
}

// Shorten cuts text to 80 bytes, between runes. What it returns keeps no longer text in memory.
func Shorten(text string) string {
	const limit = 80
	if len(text) <= limit {
		return text
	}
	end := limit
	for end > limit-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.Clone(text[:end])
}
