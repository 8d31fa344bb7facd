package space

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// Bounds of what Without describes: its result is kept, and the request waits for it.
const (
	mostParts    = 1000      // spaces
	mostCompared = 100_000   // values of one parameter that are looked at one by one
	mostKept     = 1_000_000 // points that are looked at one by one
)

// Without describes the points of s that none of others has, as spaces which have no point in
// common: s itself where no other has any of its points, and none where the others have them all.
// Points are the same when their flags in a style are, in whatever order: a switch that is false is
// the same as no switch. The parameters keep the order that they have in s, the points do not. An
// error says what is too large to be compared.
//
// Where all spaces are all combinations of their parameters, values are compared, never points, so
// that the cost and the result do not depend on Len. Else points are compared one by one: s has at
// most mostKept of them, each is looked up in every other space, at some microseconds each, and the
// result is s without some of its points, in their order.
func (s *Space) Without(style Style, others ...*Space) ([]*Space, error) {
	one := func(of *Space) bool { return !of.plain() }
	if slices.ContainsFunc(append([]*Space{s}, others...), one) {
		return s.withoutPoints(style, others)
	}
	parts := []*Space{s}
	for _, other := range others {
		var left []*Space
		for _, part := range parts {
			rest, err := part.without(style, other)
			if err != nil {
				return nil, err
			}
			if left = append(left, rest...); len(left) > mostParts {
				return nil, fmt.Errorf("what is new falls into more than %d parts", mostParts)
			}
		}
		parts = left
	}
	return parts, nil
}

// withoutPoints looks for each point among those of others.
func (s *Space) withoutPoints(style Style, others []*Space) ([]*Space, error) {
	if s.Len() > mostKept {
		return nil,
			fmt.Errorf(
				"its %d points cannot be compared one by one with those that it had, %d is "+
					"the most", s.Len(), mostKept)
	}
	key := func(v value) string { return v.key(style) }
	has := func(p Point) func(*search) bool {
		return func(q *search) bool { _, ok := q.find(p); return ok }
	}
	searches := make([]*search, len(others))
	for i, other := range others {
		searches[i] = newFinder(other, key).search()
	}
	kept := []int64{}
	for i := range s.Len() {
		p := s.Point(i)
		if !slices.ContainsFunc(searches, has(p)) {
			if s.only != nil {
				i = s.only[i]
			}
			kept = append(kept, i)
		}
	}
	if slices.ContainsFunc(searches, (*search).exhausted) {
		return nil, errors.New("too many combinations look like its points on a command line; " +
			"write the switches of both files in the same way")
	}
	switch int64(len(kept)) {
	case 0:
		return nil, nil
	case s.Len():
		return []*Space{s}, nil
	}
	part := s.plan
	part.sample, part.limit, part.kept = nil, 0, kept
	left, err := build(part)
	return []*Space{left}, err
}

// without splits off, parameter by parameter, the points that have a value of it which the other
// has not, and have values of the other in all parameters before.
func (s *Space) without(style Style, other *Space) (parts []*Space, err error) {
	whole := []*Space{s}
	for i := range other.plan.parameters {
		if q := &other.plan.parameters[i]; s.parameter(q.name) == nil && !q.canBeAbsent(style) {
			return whole, nil
		}
	}
	all := make([]division, len(s.plan.parameters))
	for i := range s.plan.parameters {
		p := &s.plan.parameters[i]
		if all[i], err = p.divide(style, other.parameter(p.name)); err != nil {
			return nil, err
		}
		if all[i].common == nil {
			return whole, nil
		}
	}
	for i := range all {
		for _, fresh := range all[i].fresh {
			parameters := slices.Clone(s.plan.parameters)
			for before := range i {
				parameters[before] = *all[before].common
			}
			parameters[i] = fresh
			part, _ := build(plan{parameters: parameters}) // it has fewer points than s
			parts = append(parts, part)
		}
	}
	return parts, nil
}

func (s *Space) parameter(name string) *parameter {
	for i := range s.plan.parameters {
		if s.plan.parameters[i].name == name {
			return &s.plan.parameters[i]
		}
	}
	return nil
}

// division is the values of a parameter, by whether another has them, too.
type division struct {
	common *parameter // nil: none
	fresh  []parameter
}

// key tells apart what values are on the command line; that of one that is absent is empty.
func (v value) key(style Style) string {
	hidden := style.Form == None || style.Form == Env
	switch {
	case v.kind == Null && style.Form == "":
		return ""
	case (v.kind == Null || v.kind == JSON) && hidden:
		return v.identity()
	case v.kind != Switch || !style.switches():
		return "=" + v.text
	case v.on():
		return "+"
	case style.Switch == SwitchNo:
		return "-"
	}
	return ""
}

func (p *parameter) canBeAbsent(style Style) bool {
	return p.span == nil && slices.ContainsFunc(p.values,
		func(v value) bool { return v.key(style) == "" })
}

// divide divides the values of p by whether q has them; a q that is nil is absent everywhere.
func (p *parameter) divide(style Style, q *parameter) (division, error) {
	if p.span != nil && q != nil && q.span != nil && p.span.places == q.span.places {
		if d, ok := p.divideInterval(q.span); ok {
			return d, nil
		}
	}
	if p.span != nil && p.span.count > mostCompared {
		return division{},
			fmt.Errorf(
				"parameter %s: its %d values cannot be compared one by one with those that it "+
					"had, %d is the most", show(p.name), p.span.count, mostCompared)
	}
	has := q.lookup(style)
	var common, fresh []value
	for i := range p.count() {
		a := p.assignment(i)
		v := a.of()
		if has(v.key(style)) {
			common = append(common, v)
		} else {
			fresh = append(fresh, v)
		}
	}
	switch {
	case len(fresh) == 0:
		return division{common: p}, nil
	case len(common) == 0:
		return division{fresh: []parameter{*p}}, nil
	}
	return division{&parameter{name: p.name, values: common},
		[]parameter{{name: p.name, values: fresh}}}, nil
}

// lookup returns which values a parameter has, by their keys.
func (p *parameter) lookup(style Style) func(key string) bool {
	switch {
	case p == nil:
		return func(key string) bool { return key == "" }
	case p.span != nil:
		return func(key string) bool {
			text, given := strings.CutPrefix(key, "=")
			return given && p.span.has(text)
		}
	}
	keys := make(map[string]bool, len(p.values))
	for _, v := range p.values {
		keys[v.key(style)] = true
	}
	return func(key string) bool { return keys[key] }
}

// has reports whether a text is that of a value.
func (v *interval) has(text string) bool {
	n, ok := v.index(text)
	return ok && v.value(n) == text
}

// divideInterval divides an interval by another with the same step, whatever their lengths: those
// of its values that the other has are one run. False: it has not that form.
func (p *parameter) divideInterval(q *interval) (division, bool) {
	start, step := p.span.big()
	from, other := q.big()
	if step.Cmp(other) != 0 {
		return division{}, false
	}
	whole := division{fresh: []parameter{*p}}
	first, rest := new(big.Int).QuoRem(new(big.Int).Sub(from, start), step, new(big.Int))
	if rest.Sign() != 0 {
		return whole, true
	}
	count := big.NewInt(p.span.count)
	bound := func(n *big.Int) int64 { // within the values of p
		switch {
		case n.Sign() < 0:
			return 0
		case n.Cmp(count) > 0:
			return p.span.count
		}
		return n.Int64()
	}
	low, high := bound(first), bound(new(big.Int).Add(first, big.NewInt(q.count)))
	switch {
	case low >= high:
		return whole, true
	case low == 0 && high == p.span.count:
		return division{common: p}, true
	}
	var d division
	runs := [][2]int64{{0, low}, {high, p.span.count}, {low, high}}
	for i, run := range runs {
		if run[0] == run[1] {
			continue
		}
		part, ok := p.run(run[0], run[1])
		if !ok {
			return division{}, false
		}
		if i < 2 {
			d.fresh = append(d.fresh, part)
		} else {
			d.common = &part
		}
	}
	return d, true
}

// run returns the values from, …, to-1 of an interval as an interval. False: their texts are too
// long to be operands.
func (p *parameter) run(from, to int64) (parameter, bool) {
	operands := []string{p.span.value(from), p.span.operands[1], "1"}
	if to < p.span.count {
		operands[1] = p.span.value(to)
	}
	if len(p.span.operands) > 2 {
		operands[2] = p.span.operands[2]
	}
	span, troubles := newInterval(operands)
	return parameter{name: p.name, span: span}, troubles == nil
}
