package space

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
	"mlframework/sweep/space/grid"
)

// draft is a plan while it is read, with the places of what it is made of.
type draft struct {
	*reader
	plan      plan
	names     []string       // of all parameters, also of those that are faulty
	index     map[string]int // of the others in the plan
	nodes     []entry        // where the parameters of the plan are written
	ruleNodes []*yaml.Node   // where its rules are
	includes  []*yaml.Node   // where its included points are
	seed      int64          // of its sample
	counted   bool           // RepeatName was added
}

// space makes the space of a file; nil where the file has faults that would bring others about.
func (r *reader) space(o outline) *Space {
	d := &draft{reader: r, index: map[string]int{}}
	all := o.sections
	d.list(o)
	for _, e := range o.entries {
		d.names = append(d.names, e.Name)
		if p, ok := r.parameter(e); ok {
			d.add(e, p)
		}
	}
	d.walk(all)
	d.changeWalk()
	if len(r.faults) > 0 && (r.distinct || r.altered) {
		return nil
	}
	if r.distinct {
		d.dropEqual(o)
	}
	s, err := newSpace(d.plan)
	if err != nil {
		if len(d.faults) == 0 { // a name that is there twice in the file is told of
			d.unbuilt(err)
		}
		return nil
	}
	outcome, err := s.apply()
	if err != nil {
		d.unbuilt(err)
		return nil
	}
	d.noteRules(outcome)
	d.include(s, o)
	doubled, err := s.complete()
	if many, is := errors.AsType[tooManyDrawn](err); is {
		d.faults.Add(d.ofSample(all, many.Error(), "draw fewer, or repeat less"))
		return nil
	} else if err != nil {
		d.unbuilt(err)
		return nil
	}
	d.noteDoubled(doubled)
	d.noteSample(s, all)
	d.limit(s)
	s.counted = d.counted
	return s
}

// unbuilt tells why there is no space.
func (d *draft) unbuilt(err error) {
	if over, is := errors.AsType[overflow](err); is {
		d.fault(d.nodes[over.parameter].Key, show(d.plan.parameters[over.parameter].name)+": "+
			tooMany, "use fewer values, or split the sweep")
	} else if wrong, is := errors.AsType[*ruleError](err); is {
		d.ruleFault(wrong)
	} else if t, is := errors.AsType[tooManyTied](err); is {
		d.tooManyTied(t)
	} else if c, is := errors.AsType[circle](err); is {
		d.fault(d.ruleNodes[d.ruleOf(c.parameters[0])],
			fmt.Sprintf("when: the conditions of %s depend on each other in a circle",
				d.called(c.parameters)), "remove one of them")
	} else {
		d.fault(d.nodes[0].Key, err.Error(), "")
	}
}

// tooManyTied tells that rules would have to look at too many combinations: of parameters that they
// tie, or of the values of one.
func (d *draft) tooManyTied(t tooManyTied) {
	most := fmt.Sprintf("each would be looked at, and %d is the most", grid.MostCodes)
	at, names := d.conflictingRule(t.parameters), d.called(t.parameters)
	if t.axes > 1 {
		d.fault(at, fmt.Sprintf("rules tie %s together, with %d combinations: %s", names, t.codes,
			most), "use fewer values of one, or split the sweep by it: a file for each part, "+
			"without the rule that ties it")
		return
	}
	has := "has"
	if len(t.parameters) > 1 {
		has = "vary together and have"
	}
	d.fault(at, fmt.Sprintf("the rule looks at %s, which %s %d values: %s", names, has, t.codes,
		most),
		"write the values that the rule leaves in place of it, such as a shorter interval "+
			"or one with a larger step")
}

func (d *draft) add(e entry, p parameter) {
	d.index[e.Name] = len(d.plan.parameters)
	d.plan.parameters, d.nodes = append(d.plan.parameters, p), append(d.nodes, e)
}

// named returns the parameter that a node names; false where there is none, which is a fault, or
// where that has faults of its own.
func (d *draft) named(n *yaml.Node, section string) (p int, ok bool) {
	if yamlfile.Target(n).Kind != yaml.ScalarNode {
		d.fault(n, section+": "+yamlfile.KindOf(yamlfile.Target(n))+
			" is not the name of a parameter",
			"write a name")
		return 0, false
	}
	return d.lookup(n, yamlfile.Target(n).Value, section)
}

func (d *draft) lookup(at *yaml.Node, name, section string) (p int, ok bool) {
	if p, ok = d.index[name]; !ok && !slices.Contains(d.names, name) {
		problem, remedy := unknownName(name, d.names)
		d.fault(at, section+": "+problem, remedy)
	}
	return p, ok
}

// unknownName says that no parameter has a name.
func unknownName(name string, names []string) (problem, remedy string) {
	problem = "there is no parameter " + show(name)
	switch near := fault.Nearest(name, names); {
	case near != "":
		return problem, "did you mean " + show(near) + "?"
	case len(names) == 0:
		return problem, "the file has no parameters"
	}
	return problem, "name one of " + enumerate(names, "or")
}

// maxNamed is how many names a message lists.
const maxNamed = 12

// enumerate returns "a, b or c".
func enumerate(names []string, or string) string {
	var b strings.Builder
	for i, name := range names {
		switch {
		case i == maxNamed:
			fmt.Fprintf(&b, " %s %d more", or, len(names)-i)
			return b.String()
		case i > 0 && i == len(names)-1:
			b.WriteString(" " + or + " ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(show(name))
	}
	return b.String()
}

// called returns the names of parameters.
func (d *draft) called(parameters []int) string {
	var names []string
	for _, p := range parameters {
		names = append(names, d.plan.parameters[p].name)
	}
	return enumerate(names, "and")
}

// identity tells values apart: True and true are one switch, 1 and "1" two values. No value has a
// NUL.
func (v value) identity() string {
	switch {
	case v.kind == Switch && v.on():
		return "+"
	case v.kind == Switch:
		return "-"
	case v.kind == Text:
		return `"` + v.text
	case v.kind != "":
		return string(v.kind) + " " + v.text
	}
	return "=" + v.text
}

// dropEqual leaves the first of equal elements of an axis.
func (d *draft) dropEqual(o outline) {
	alone := make([]bool, len(d.plan.parameters))
	for p := range alone {
		alone[p] = !slices.Contains(d.plan.listed.parameters, p)
	}
	for _, group := range d.plan.zipped {
		for _, p := range group {
			alone[p] = false
		}
		d.dropTogether(group)
	}
	for p := range alone {
		if alone[p] {
			d.dropTogether([]int{p})
		}
	}
	d.dropRows(o)
}

// dropTogether leaves the first of equal elements of parameters that vary together. Where one of
// them is an interval no two are equal.
func (d *draft) dropTogether(group []int) {
	if slices.ContainsFunc(group, func(p int) bool { return d.plan.parameters[p].span != nil }) {
		return
	}
	keys := make([]string, d.plan.parameters[group[0]].count())
	for _, p := range group {
		for i, v := range d.plan.parameters[p].values {
			keys[i] += v.identity() + "\x00"
		}
	}
	kept := firstOfEqual(keys, func(i, before int) {
		e := d.nodes[group[0]]
		at := e.Value
		if n := yamlfile.Target(at); n.Kind == yaml.SequenceNode && len(n.Content) == len(keys) {
			at = n.Content[i]
		}
		if len(group) == 1 {
			d.note(at, show(e.Name)+": the value "+d.plan.parameters[group[0]].values[i].show()+
				" is there twice: it is run once", "")
		} else {
			d.note(at, fmt.Sprintf("zip: elements %d and %d of %s are the same: they are run once",
				before+1, i+1, d.called(group)), "")
		}
	})
	for _, p := range group {
		d.plan.parameters[p].values = pick(d.plan.parameters[p].values, kept)
	}
}

// firstOfEqual lists the first of equal keys, and tells of the others.
func firstOfEqual(keys []string, tell func(i, before int)) (kept []int) {
	first := make(map[string]int, len(keys))
	for i, key := range keys {
		if before, is := first[key]; is {
			tell(i, before)
			continue
		}
		first[key] = i
		kept = append(kept, i)
	}
	return kept
}

func pick[T any](all []T, kept []int) []T {
	if len(kept) == len(all) {
		return all
	}
	some := make([]T, len(kept))
	for i, k := range kept {
		some[i] = all[k]
	}
	return some
}
