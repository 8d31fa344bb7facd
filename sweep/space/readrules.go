package space

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
	"mlframework/sweep/expr"
	"mlframework/sweep/fault"
)

// scope resolves the names of expressions to parameters.
type scope struct{ *draft }

// Lookup finds a parameter. One that has faults of its own has a number that is never looked at:
// nothing is built then.
func (s scope) Lookup(name string) (int, bool) {
	if p, ok := s.index[name]; ok {
		return p, true
	}
	return math.MaxInt, slices.Contains(s.names, name)
}

// Unknown returns what is wrong with another name.
func (s scope) Unknown(name string) (problem, remedy string) { return unknownName(name, s.names) }

// rules reads where or exclude: one or a list of them.
func (d *draft) rules(s entry) {
	for _, n := range d.elements(s, "write a rule") {
		switch {
		case yamlfile.Target(n).Kind == yaml.ScalarNode:
			d.expression(rule{kind: ruleKind(s.Name)}, n, s.Name)
		case yamlfile.Target(n).Kind == yaml.MappingNode && s.Name == string(exclude):
			d.excluded(n)
		default:
			remedy := "write an expression, such as lr * batchsize <= 1"
			if s.Name == string(exclude) {
				remedy = "write an expression, or values as {optimizer: sgd, augment: true}"
			}
			d.fault(n, s.Name+": "+yamlfile.KindOf(yamlfile.Target(n))+" is not a condition",
				remedy)
		}
	}
}

// when reads on what it depends whether parameters are there.
func (d *draft) when(s entry) {
	n := yamlfile.Target(s.Value)
	if n.Kind != yaml.MappingNode {
		d.fault(s.Value, "when: "+yamlfile.KindOf(n)+" does not say which parameter it is about",
			`write {momentum: optimizer == "sgd"}`)
		return
	}
	for _, e := range d.entries(n) {
		p, ok := d.lookup(e.Key, e.Name, "when")
		if yamlfile.Target(e.Value).Kind != yaml.ScalarNode {
			d.fault(e.Value, "when "+show(e.Name)+": "+yamlfile.KindOf(yamlfile.Target(e.Value))+
				" is not a condition", `write an expression, such as optimizer == "sgd"`)
		} else if ok {
			d.expression(rule{kind: when, parameter: p}, e.Value, "when "+show(e.Name))
		}
	}
}

// expression reads a rule that is one.
func (d *draft) expression(r rule, n *yaml.Node, section string) {
	t := yamlfile.Target(n)
	r.text = strings.TrimSpace(t.Value)
	if r.text == "" || t.Tag == "!!null" {
		d.fault(n, section+": no expression", "write one, such as lr * batchsize <= 1")
		return
	}
	var err error
	if r.expr, err = expr.Parse(r.text, scope{d}); err != nil {
		e, _ := errors.AsType[*expr.Error](err)
		d.faultWithin(n, e.Column, section+": "+e.Problem, e.Remedy)
		return
	}
	if r.kind == when && slices.Contains(r.expr.Slots(), r.parameter) {
		d.fault(n, section+": whether it is there depends on itself", "name other parameters")
		return
	}
	d.noteEqualities(n, r.expr, section)
	d.plan.rules, d.ruleNodes = append(d.plan.rules, r), append(d.ruleNodes, n)
}

// faultWithin is a fault at a column of an expression.
func (d *draft) faultWithin(n *yaml.Node, column int, problem, remedy string) {
	d.faults.Add(d.within(n, column, problem, remedy))
}

// within returns what is said of a column of an expression. It has that place where the text stands
// in one line of the file as it is, without escapes.
func (d *draft) within(n *yaml.Node, column int, problem, remedy string) fault.Fault {
	at := d.at(n, problem, remedy)
	if column > 0 {
		text := yamlfile.Target(n).Value
		column += utf8.RuneCountInString(text) - utf8.RuneCountInString(strings.TrimLeft(text,
			" \t\n"))
		if skipped, ok := d.verbatim(at.Line, at.Column, text); ok && n.Kind != yaml.AliasNode {
			at.Column += skipped + column - 1
		} else {
			at.Problem += fmt.Sprintf(" (column %d of the expression)", column)
		}
	}
	return at
}

// verbatim reports whether a text stands at a place of the file, in quotes or without, and how much
// stands before it.
func (r *reader) verbatim(line, column int, text string) (skipped int, ok bool) {
	lines := lineEnd.Split(r.text, -1) // as an editor has them
	if line < 1 || line > len(lines) {
		return 0, false
	}
	rest := []rune(lines[line-1])
	if column < 1 || column > len(rest) {
		return 0, false
	}
	rest = rest[column-1:]
	if rest[0] == '"' || rest[0] == '\'' {
		rest, skipped = rest[1:], 1
	}
	return skipped, strings.HasPrefix(string(rest), text)
}

// having returns the numbers of the values of a parameter that equal one of some: as numbers where
// both are.
func (p *parameter) having(some []value) map[int64]bool {
	all := map[int64]bool{}
	for _, v := range some {
		if p.span != nil {
			if n, ok := p.span.index(v.text); ok && v.kind == "" {
				all[n] = true
			}
			continue
		}
		for n, has := range p.values {
			if has.equals(v) {
				all[int64(n)] = true
			}
		}
	}
	return all
}

// equals compares as people do: 0.1 is 0.10, and text is no switch.
func (v value) equals(w value) bool {
	if v.identity() == w.identity() {
		return true
	}
	a, b := v.term(), w.term()
	return v.kind != Switch && w.kind != Switch && a.Kind == expr.Number && b.Kind == expr.Number &&
		expr.CompareNumbers(a, b) == 0
}

// ruleFault is a fault of a rule that showed while it was applied.
func (d *draft) ruleFault(e *ruleError) {
	problem := e.problem
	if r := &d.plan.rules[e.rule]; e.column > 0 {
		section := string(r.kind)
		if r.kind == when {
			section += " " + show(d.plan.parameters[r.parameter].name)
		}
		problem = section + ": " + problem
	}
	d.faultWithin(d.ruleNodes[e.rule], e.column, problem, e.remedy)
}

// ruleOf returns the rule that says when a parameter is there.
func (d *draft) ruleOf(p int) int {
	return slices.IndexFunc(d.plan.rules, func(r rule) bool {
		return r.kind == when && r.parameter == p
	})
}

// conflictingRule returns where a rule stands that looks at one of some parameters.
func (d *draft) conflictingRule(parameters []int) *yaml.Node {
	i := slices.IndexFunc(d.plan.rules, func(r rule) bool {
		return slices.ContainsFunc(r.names(), func(p int) bool {
			return slices.Contains(parameters, p)
		})
	})
	return d.ruleNodes[i]
}

// noteRules notes rules that change nothing.
func (d *draft) noteRules(outcome []applied) {
	for i, a := range outcome {
		r := &d.plan.rules[i]
		text := r.describe(d.plan.parameters)
		switch {
		case r.kind == where && !a.notAll:
			d.note(d.ruleNodes[i], text+" holds for every combination: it removes nothing", "")
		case r.kind == exclude && !a.forSome:
			d.note(d.ruleNodes[i], text+" matches no combination: it removes nothing", "")
		case r.kind == when && !a.notAll:
			d.note(d.ruleNodes[i],
				text+" holds for every combination: the parameter is always there", "")
		case r.kind == when && !a.forSome:
			d.note(d.ruleNodes[i], text+" holds for no combination: the parameter is never there",
				"")
		}
	}
}
