package expr

import (
	"fmt"
	"math"
)

// run is one evaluation.
type run struct {
	get    func(slot int) Value
	strict bool
	wrong  *Error // the first
}

func (r *run) fail(at int, problem, remedy string) {
	if r.wrong == nil {
		r.wrong = &Error{Column: at, Problem: problem, Remedy: remedy}
	}
}

func (n *node) holds(r *run) bool {
	switch n.kind {
	case andNode:
		return n.args[0].holds(r) && n.args[1].holds(r)
	case orNode:
		return n.args[0].holds(r) || n.args[1].holds(r)
	case notNode:
		return !n.args[0].holds(r)
	case inNode:
		return n.member(r)
	case patternNode:
		v := n.args[0].evaluate(r)
		return v.Kind != undefined && n.pattern.MatchString(v.String()) == (n.op == matches)
	}
	return n.compare(r)
}

// member evaluates in, which is a chain of = joined by or, and not in, one of != joined by and.
func (n *node) member(r *run) bool {
	v := n.args[0].evaluate(r)
	if v.Kind == undefined {
		return false
	}
	for _, a := range n.args[1:] {
		w := a.evaluate(r)
		switch {
		case w.Kind == undefined && n.op == differs:
			return false
		case w.Kind != undefined && equal(n.args[0], a, v, w):
			return n.op == equals
		}
	}
	return n.op == differs
}

func (n *node) compare(r *run) bool {
	a, b := n.args[0].evaluate(r), n.args[1].evaluate(r)
	if a.Kind == undefined || b.Kind == undefined {
		return false
	}
	switch n.op {
	case equals:
		return equal(n.args[0], n.args[1], a, b)
	case differs:
		return !equal(n.args[0], n.args[1], a, b)
	}
	if a.Kind == Absent || a.Kind == NaN || b.Kind == Absent || b.Kind == NaN {
		return false
	}
	order := 0
	switch {
	case a.Kind == Number && b.Kind == Number:
		order = compareNumbers(n.args[0], n.args[1], a, b)
	case r.strict && a.Kind != b.Kind:
		n.mixed(r, a, b)
		return false
	default:
		order = compareText(a, b)
	}
	switch n.op {
	case less:
		return order < 0
	case lessOrEqual:
		return order <= 0
	case greater:
		return order > 0
	default:
		return order >= 0
	}
}

// mixed says that a number is compared with a text.
func (n *node) mixed(r *run, a, b Value) {
	side, text := n.args[0], a
	if b.Kind == Text {
		side, text = n.args[1], b
	}
	r.fail(side.at, side.subject(text)+", and "+n.op.String()+" compares it with a number",
		"compare two numbers or two texts, or use = or !=")
}

// subject says what a node's value is, in a message.
func (n *node) subject(v Value) string {
	name := shown(Shorten((&Expr{n}).String()))
	switch {
	case v.Kind != Text:
		return name + " is " + v.String()
	case n.kind == literalNode:
		return name + " is text"
	default:
		return fmt.Sprintf("%s is %q, which is text", name, Shorten(v.Text))
	}
}

// evaluate returns the node's value; undefined where arithmetic has no result.
func (n *node) evaluate(r *run) Value {
	switch n.kind {
	case slotNode:
		return r.get(n.slot)
	case literalNode:
		return n.value
	}
	v, ok := n.number(r)
	if !ok {
		return Value{Kind: undefined}
	}
	return NumberOf(v + 0) // no -0
}

// number returns the node's value as a number; false: it has none.
func (n *node) number(r *run) (float64, bool) {
	switch n.kind {
	case arithmeticNode:
		return n.calculate(r)
	case signNode:
		v, ok := n.args[0].number(r)
		return -v, ok
	case callNode:
		return n.apply(r)
	}
	v := n.evaluate(r)
	switch v.Kind {
	case Number:
		return v.Number, true
	case NaN:
		return math.NaN(), true
	case Text:
		if r.strict {
			r.fail(n.at, n.subject(v), "arithmetic needs numbers")
		}
	}
	return 0, false
}

func (n *node) calculate(r *run) (float64, bool) {
	a, ok := n.args[0].number(r)
	if !ok {
		return 0, false
	}
	b, ok := n.args[1].number(r)
	if !ok {
		return 0, false
	}
	switch n.op {
	case plus:
		return settle(a+b, a, b), true
	case minus:
		return settle(a-b, a, b), true
	case times:
		return a * b, true
	}
	if b == 0 {
		if r.strict {
			r.fail(n.at, "division by zero: "+n.args[1].subject(NumberOf(0)),
				"put a condition such as x != 0 and before it")
		}
		return 0, false
	}
	if n.op == divided {
		return a / b, true
	}
	return remainder(a, b), true
}

// apply calls a function.
func (n *node) apply(r *run) (float64, bool) {
	v, ok := n.args[0].number(r)
	if !ok {
		return 0, false
	}
	for _, a := range n.args[1:] {
		w, ok := a.number(r)
		if !ok {
			return 0, false
		}
		v = n.call.fold(v, w)
	}
	if n.call.fold != nil {
		return v, true
	}
	if v <= 0 && !n.call.wide {
		if r.strict {
			r.fail(n.args[0].at, fmt.Sprintf("%s of %s, which is not positive", n.call.name,
				NumberOf(v+0)),
				"put a condition such as x > 0 and before it")
		}
		return 0, false
	}
	return n.call.one(v), true
}
