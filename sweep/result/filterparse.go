package result

import (
	"fmt"
	"regexp"
	"strings"
)

// Bounds of an expression: whoever may look at results may send one.
const (
	maxFilter = 10_000 // bytes
	maxDepth  = 100    // of parentheses and not
)

// ParseFilter reads an expression over the columns of a schema; empty text picks every row. Its error is a
// [*FilterError].
func ParseFilter(expr string, s Schema) (*Filter, error) {
	if len(expr) > maxFilter {
		return nil, &FilterError{Column: 1, Problem: "the filter is too long", Remedy: fmt.Sprintf("use at most %d bytes", maxFilter)}
	}
	p := &parser{rest: expr, at: 1, schema: s}
	p.advance()
	if p.wrong == nil && p.token.kind == endToken {
		return &Filter{}, nil
	}
	root := p.or(0)
	if p.wrong == nil && p.token.kind != endToken {
		p.fail(p.token.at, fmt.Sprintf("unexpected %q", p.token.text), "join comparisons with and, or")
	}
	if p.wrong != nil {
		return nil, p.wrong
	}
	return &Filter{root}, nil
}

// parser reads by recursive descent; token is the one not yet consumed. After the first fault it sees only the end.
type parser struct {
	rest   string
	at     int // column of rest
	schema Schema
	token  token
	wrong  *FilterError
}

func (p *parser) fail(at int, problem, remedy string) node {
	if p.wrong == nil {
		p.wrong = &FilterError{Column: at, Problem: problem, Remedy: remedy}
	}
	p.token = token{kind: endToken, at: at}
	p.rest = ""
	return nil
}

func (p *parser) isWord(word string) bool {
	return p.token.kind == wordToken && strings.EqualFold(p.token.text, word)
}

func (p *parser) or(depth int) node {
	n := p.and(depth)
	for p.isWord("or") {
		p.advance()
		n = either{n, p.and(depth)}
	}
	return n
}

func (p *parser) and(depth int) node {
	n := p.not(depth)
	for p.isWord("and") {
		p.advance()
		n = both{n, p.not(depth)}
	}
	return n
}

func (p *parser) not(depth int) node {
	if depth > maxDepth {
		return p.fail(p.token.at, "the filter is nested too deep", fmt.Sprintf("use at most %d levels", maxDepth))
	}
	if p.isWord("not") {
		p.advance()
		return negation{p.not(depth + 1)}
	}
	if p.token.kind != parenthesisToken || p.token.text != "(" {
		return p.comparison()
	}
	open := p.token.at
	p.advance()
	n := p.or(depth + 1)
	if p.token.kind != parenthesisToken {
		return p.fail(open, "this ( is never closed", "add a )")
	}
	p.advance()
	return n
}

func (p *parser) comparison() node {
	name := p.token
	if name.kind != wordToken && name.kind != quotedToken {
		return p.fail(name.at, "a column is missing here", "write COLUMN=VALUE, such as state=failed")
	}
	c, known := p.schema.find(name.text)
	if !known {
		problem, remedy := p.schema.unknown(name.text)
		p.fail(name.at, problem, remedy)
		p.wrong.Unknown = name.text
		return nil
	}
	p.advance()
	op := p.token
	if op.kind != operatorToken {
		return p.fail(op.at, fmt.Sprintf("a comparison is missing after %s", Visible(name.text)),
			"write one of = != < <= > >= ~ !~ and a value")
	}
	p.advance()
	value := p.token
	if value.kind != wordToken && value.kind != quotedToken {
		return p.fail(value.at, "a value is missing after "+op.text, "write one; quote it if it has spaces or ( ) = < > ~ ! in it")
	}
	p.advance()
	return p.compare(c, op.text, value)
}

func (p *parser) compare(c column, op string, value token) node {
	n := &comparison{column: c, op: op}
	if op != "~" && op != "!~" {
		n.value = valueCell(value.text, value.kind == quotedToken, c.name == "duration")
		return n
	}
	pattern, err := regexp.Compile(value.text)
	if err != nil {
		problem := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return p.fail(value.at, Visible(problem), "write a regular expression as in Go (RE2)")
	}
	n.pattern = pattern
	return n
}
