package space

import (
	"fmt"
	"slices"
	"strings"

	"mlframework/sweep/expr"
)

// rule takes combinations away.
type rule struct {
	kind      ruleKind
	parameter int        // of when
	text      string     // the expression as it is written; "" where there are values
	values    []oneOf    // of exclude: all of them have to be
	expr      *expr.Expr // of text
}

type ruleKind string

const (
	where   ruleKind = "where"
	exclude ruleKind = "exclude"
	when    ruleKind = "when"
)

// oneOf says that a parameter has one of several values.
type oneOf struct {
	parameter int
	values    []value
}

// describe returns a rule as people write it.
func (r *rule) describe(of []parameter) string {
	switch {
	case r.kind == when:
		return "when " + show(of[r.parameter].name) + ": " + r.text
	case r.text != "":
		return string(r.kind) + ": " + r.text
	}
	var all []string
	for _, o := range r.values {
		texts := shownOf(int64(len(o.values)), func(i int64) string {
			return o.values[i].show()
		})
		text := strings.Join(texts, ", ")
		if len(texts) != 1 {
			text = "[" + text + "]"
		}
		all = append(all, show(of[o.parameter].name)+": "+text)
	}
	return "exclude: {" + strings.Join(all, ", ") + "}"
}

// names returns the parameters that a rule looks at itself.
func (r *rule) names() []int {
	if r.expr != nil {
		return r.expr.Slots()
	}
	var all []int
	for _, o := range r.values {
		all = append(all, o.parameter)
	}
	return all
}

// condition says where a parameter is there.
type condition struct {
	parameter int
	rule      int // of the plan
	expr      *expr.Expr
	looks     []int // the parameters that it names
}

// circle says that conditions look at each other.
type circle struct{ parameters []int }

func (circle) Error() string { return "conditions look at each other" }

// order puts conditions behind those of the parameters that they look at.
func order(rules []rule) ([]condition, error) {
	of := map[int]int{}
	for i, r := range rules {
		if r.kind == when {
			of[r.parameter] = i
		}
	}
	var all []condition
	const reached, done = 1, 2
	state := map[int]int{}
	var visit func(p int, path []int) error
	visit = func(p int, path []int) error {
		i, conditional := of[p]
		switch {
		case !conditional || state[p] == done:
			return nil
		case state[p] == reached:
			return circle{path[slices.Index(path, p):]}
		}
		state[p] = reached
		c := condition{parameter: p, rule: i, expr: rules[i].expr, looks: rules[i].names()}
		for _, q := range c.looks {
			if err := visit(q, append(path, p)); err != nil {
				return err
			}
		}
		state[p] = done
		all = append(all, c)
		return nil
	}
	for _, r := range rules {
		if r.kind == when {
			if err := visit(r.parameter, nil); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// holds reports whether a parameter is there beside the values that the others have. A condition
// that looks at a parameter which is not there does not hold.
func (c *condition) holds(numbers []int64, get func(int) expr.Value) (bool, error) {
	if lacks(numbers, c.looks) {
		return false, nil
	}
	return c.expr.Match(get)
}

func lacks(numbers []int64, parameters []int) bool {
	for _, p := range parameters {
		if numbers[p] == absent {
			return true
		}
	}
	return false
}

// mostTerms is the number of values of a parameter up to which they are prepared for expressions.
const mostTerms = 100_000

// term returns a value as expressions see it.
func (v value) term() expr.Value {
	switch {
	case v.kind == Switch:
		return expr.Value{Kind: expr.Text, Text: v.text, Boolean: expr.IsBoolean}
	case v.kind != "":
		return expr.Value{Kind: expr.Text, Text: v.text}
	}
	if _, boolean := switchOf(v.text); boolean { // in quotes, or it were a switch
		return expr.Value{Kind: expr.Text, Text: v.text, Boolean: expr.IsText}
	}
	return expr.ValueOf(v.text)
}

// prepareValues prepares the values of the parameters that rules look at.
func (s *Space) prepareValues() {
	s.terms = make([][]expr.Value, len(s.plan.parameters))
	for _, r := range s.plan.rules {
		if r.expr == nil {
			continue
		}
		for _, p := range r.names() {
			of := &s.plan.parameters[p]
			if s.terms[p] != nil || of.count() > mostTerms {
				continue
			}
			s.terms[p] = make([]expr.Value, of.count())
			for i := range s.terms[p] {
				s.terms[p][i] = of.value(int64(i)).term()
			}
		}
	}
}

// valuesOf returns the values that numbers stand for, as expressions see them.
func (s *Space) valuesOf(numbers []int64) func(int) expr.Value {
	return func(p int) expr.Value {
		n := numbers[p]
		if n == absent {
			return expr.Value{}
		}
		if known := s.terms[p]; n < int64(len(known)) {
			return known[n]
		}
		return s.plan.parameters[p].value(n).term()
	}
}

// at returns which values parameters have: "a=1, b=x".
func (s *Space) at(parameters []int, numbers []int64) string {
	var all []string
	for _, p := range parameters {
		if numbers[p] != absent {
			all = append(all, fmt.Sprintf("%s=%s", show(s.plan.parameters[p].name),
				show(s.plan.parameters[p].value(numbers[p]).text)))
		}
	}
	return strings.Join(all, ", ")
}
