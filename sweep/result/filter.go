package result

import (
	"fmt"
	"math"
	"regexp"
)

// Filter picks rows by an expression such as
//
//	state=failed
//	lr >= 0.01 and (accuracy > 0.9 or not host ~ '^gpu[12]$')
//
// A comparison is a column, one of = != < <= > >= ~ !~, and a value; and binds tighter than or. Values with spaces,
// parentheses or operators stand in '...' or "...", names too; a backslash there keeps the next quote or backslash. Two
// numbers compare as numbers, anything else as text, and so does a quoted value; ~ is a regular expression (RE2) found
// anywhere. duration takes seconds or 90m. What is absent equals only the empty text, and is neither less nor greater than
// anything; what is not a number equals nan, and what is infinite equals inf or -inf.
//
// The nil and the zero Filter match every row. Safe for concurrent use.
type Filter struct{ root node }

// FilterError says what is wrong with an expression and where.
type FilterError struct {
	Column  int // in characters, from 1
	Problem string
	Remedy  string
	Unknown string // the name, where the problem is that the schema has no such column; "" otherwise
}

func (e *FilterError) Error() string {
	return fmt.Sprintf("column %d: %s; %s", e.Column, e.Problem, e.Remedy)
}

// Match reports whether the filter picks the row.
func (f *Filter) Match(r *Row) bool { return f == nil || f.root == nil || f.root.match(r) }

// Where returns the rows that an expression picks, in their order. Its error is a [*FilterError].
func Where(rows []Row, s Schema, expr string) ([]Row, error) {
	f, err := ParseFilter(expr, s)
	if err != nil {
		return nil, err
	}
	var out []Row
	for i := range rows {
		if f.Match(&rows[i]) {
			out = append(out, rows[i])
		}
	}
	return out, nil
}

type node interface {
	match(*Row) bool
	fields() Fields // of rows that match looks at
	metrics() []string
}

type (
	both       struct{ a, b node }
	either     struct{ a, b node }
	negation   struct{ a node }
	comparison struct {
		column  column
		op      string
		value   cell // kind word where it was quoted
		pattern *regexp.Regexp
	}
)

func (n both) match(r *Row) bool     { return n.a.match(r) && n.b.match(r) }
func (n either) match(r *Row) bool   { return n.a.match(r) || n.b.match(r) }
func (n negation) match(r *Row) bool { return !n.a.match(r) }

func (n both) fields() Fields        { return n.a.fields() | n.b.fields() }
func (n either) fields() Fields      { return n.a.fields() | n.b.fields() }
func (n negation) fields() Fields    { return n.a.fields() }
func (n *comparison) fields() Fields { return n.column.needs }

func (n both) metrics() []string     { return append(n.a.metrics(), n.b.metrics()...) }
func (n either) metrics() []string   { return append(n.a.metrics(), n.b.metrics()...) }
func (n negation) metrics() []string { return n.a.metrics() }

func (n *comparison) metrics() []string {
	if n.column.needs.Has(FieldMetrics) {
		return []string{n.column.metric}
	}
	return nil
}

func (n *comparison) match(r *Row) bool { return n.holds(n.column.get(r)) }

func (n *comparison) holds(c cell) bool {
	switch n.op {
	case "~":
		return n.pattern.MatchString(c.String())
	case "!~":
		return !n.pattern.MatchString(c.String())
	case "=":
		return n.equal(c)
	case "!=":
		return !n.equal(c)
	}
	if c.kind == absent || c.kind == noNumber {
		return false
	}
	order := n.compare(c)
	switch n.op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	default:
		return order >= 0
	}
}

func (n *comparison) equal(c cell) bool {
	if c.kind == absent {
		return n.value.text == ""
	}
	return n.compare(c) == 0
}

func (n *comparison) compare(c cell) int {
	if c.kind == number && n.value.kind == number {
		return compareNumbers(c, n.value)
	}
	return compareText(c.String(), n.value.text)
}

func compareText(a, b string) int {
	switch {
	case a == b:
		return 0
	case a < b:
		return -1
	default:
		return 1
	}
}

// valueCell is what a bare word of an expression means.
func valueCell(text string, quoted, seconds bool) cell {
	if quoted {
		return cell{kind: word, text: text}
	}
	if v, err := parseSeconds(text); err == nil && seconds {
		return cell{number, text, v}
	}
	c := textCell(text)
	v, ok := parseNumber(text)
	switch {
	case !ok || c.kind != word:
		return c
	case math.IsNaN(v):
		return cell{kind: word, text: "nan"}
	default:
		return cell{number, text, v} // inf, or what is too large for floating point
	}
}
