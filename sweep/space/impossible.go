package space

import (
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/sweep/expr"
	"mlframework/sweep/fault"
)

// maxChecked is the number of values of a parameter up to which rules are compared with them.
const maxChecked = 10_000

// noteExcluded notes a value of exclude that a parameter never has.
func (d *draft) noteExcluded(at *yaml.Node, p int, v value) {
	of := &d.plan.parameters[p]
	if len(of.having([]value{v})) > 0 || d.changes[of.name] {
		return
	}
	_, number := Number(v.text)
	bare := v.kind == Switch || number && v.kind != Text
	d.note(at, neverHas("exclude", of, v.show()), of.nearest(v.text, bare, number))
}

// noteEqualities notes the values with which an expression compares parameters that never have
// them. A parameter that the command line sets may lack values that the file names.
func (d *draft) noteEqualities(at *yaml.Node, e *expr.Expr, section string) {
	for _, q := range e.Equalities() {
		if q.Slot >= len(d.plan.parameters) { // it has a fault
			continue
		}
		of := &d.plan.parameters[q.Slot]
		if of.compares(q) || d.changes[of.name] {
			continue
		}
		d.notes.Add(d.within(at, q.Column, neverHas(section, of, show(q.Text)),
			of.nearest(q.Text, !q.Quoted, q.IsNumber())))
	}
}

func neverHas(section string, of *parameter, text string) string {
	return section + ": " + show(of.name) + " never has the value " + text
}

// compares reports whether some value of a parameter may be the one that it is compared with.
func (p *parameter) compares(q expr.Equality) bool {
	if p.span != nil {
		n, ok := p.span.index(q.Text)
		return ok && q.Equals(p.value(n).term())
	}
	for _, v := range p.values[:min(len(p.values), maxChecked)] {
		if q.Equals(v.term()) {
			return true
		}
	}
	return len(p.values) > maxChecked
}

// nearest says which value of a parameter was probably meant by a text, without quotes or in them,
// that none has; "" where none is near. A number among others was not mistyped.
func (p *parameter) nearest(text string, bare, number bool) (remedy string) {
	var texts []string
	for i := range min(p.count(), 1000) {
		v := p.value(i)
		if v.text == text || v.kind == Switch && strings.EqualFold(v.text, text) {
			if bare {
				return "put it in quotes"
			}
			return "write " + v.text + " without quotes"
		}
		texts = append(texts, v.text)
	}
	if near := fault.Nearest(text, texts); near != "" && !number {
		return "did you mean " + show(near) + "?"
	}
	return ""
}
