package space

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"

	"mlframework/sweep/expr"
)

// maxExcluded is the number of values of a range or an interval in exclude: each is compared with
// each that the parameter has.
const maxExcluded = 1000

// excluded reads values that do not go together.
func (d *draft) excluded(n *yaml.Node) {
	r := rule{kind: exclude}
	good := true
	for _, e := range d.entries(yamlfile.Target(n)) {
		p, known := d.lookup(e.Key, e.Name, "exclude")
		values, ok := d.excludedValues(e, p, known)
		good = good && known && ok
		r.values = append(r.values, oneOf{p, values})
	}
	switch {
	case !good:
	case len(r.values) == 0:
		d.fault(n, "exclude: no parameter is named",
			"write values that do not go together, as {optimizer: sgd, augment: true}")
	default:
		d.plan.rules, d.ruleNodes = append(d.plan.rules, r), append(d.ruleNodes, n)
	}
}

// excludedValues reads the values of one parameter: one, a list, or all of a range or an interval.
func (d *draft) excludedValues(e entry, p int, known bool) (values []value, ok bool) {
	switch n := yamlfile.Target(e.Value); {
	case isRange(n) || isInterval(n):
		return d.excludedRange(e)
	case n.Kind == yaml.SequenceNode && !isPlainList(n):
		d.unknownTag(e, e.Value)
		return nil, false
	}
	ok = true
	for _, element := range elements(e.Value) {
		v, read := d.once(entry{Name: e.Name, Key: e.Key, Value: element}, d.element)
		if read && known {
			d.noteExcluded(element, p, v)
		}
		values, ok = append(values, v), ok && read
	}
	return values, ok
}

// excludedRange reads all values of a range or an interval.
func (d *draft) excludedRange(e entry) (values []value, ok bool) {
	of, ok := d.parameter(e)
	switch {
	case !ok:
		return nil, false
	case of.count() > maxExcluded:
		d.fault(e.Value, fmt.Sprintf("exclude %s: %d values; %d is the most", show(e.Name),
			of.count(), maxExcluded), "write an expression, such as "+of.between())
		return nil, false
	case of.span != nil && len(of.span.operands) == 2 && of.span.places > 0:
		d.fault(e.Value, "exclude "+show(e.Name)+": the interval "+bracket(of.span.operands)+
			" is values with the step 1, not all numbers between its ends",
			"write an expression, such as "+of.between())
		return nil, false
	}
	for i := range of.count() {
		values = append(values, of.value(i))
	}
	return values, true
}

// between returns an expression that holds for all numbers from the first value of a range or an
// interval to its last, or its end.
func (p *parameter) between() string {
	first, last, below := p.value(0).text, p.value(p.count()-1).text, "<="
	if p.span != nil {
		last, below = p.span.operands[1], "<"
	}
	if a, b := expr.ValueOf(first), expr.ValueOf(last); expr.CompareNumbers(a, b) > 0 {
		return fmt.Sprintf("%s <= %s and %s %s %s", p.name, first, p.name,
			strings.Replace(below, "<", ">", 1), last)
	}
	return fmt.Sprintf("%s >= %s and %s %s %s", p.name, first, p.name, below, last)
}
