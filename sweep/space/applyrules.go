package space

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"mlframework/sweep/expr"
	"mlframework/sweep/space/grid"
)

// ruleError says what is wrong with one rule.
type ruleError struct {
	rule            int
	column          int // in its expression; 0: all of it
	problem, remedy string
}

func (e *ruleError) Error() string { return e.problem + "; " + e.remedy }

// ruleView is what one rule depends on: the parameters of some axes.
type ruleView struct {
	space      *Space
	axes       []int        // in their order
	conditions []*condition // of parameters that the rule depends on, in their order
	numbers    []int64      // of all parameters; only those of the axes mean something
	out        []bool       // by parameter: its condition does not hold
	get        func(int) expr.Value
}

// view finds what a rule depends on: what it names, and what decides whether that is there. A rule
// that says where a parameter is there depends on all that vary with that one.
func (s *Space) view(r *rule) *ruleView {
	v := &ruleView{space: s, numbers: make([]int64, len(s.plan.parameters)),
		out: make([]bool, len(s.plan.parameters))}
	v.get = s.valuesOf(v.numbers)
	needed := make([]bool, len(s.plan.parameters))
	for _, p := range r.names() {
		needed[p] = true
	}
	if r.kind == when {
		for _, p := range s.axes[s.parameters[r.parameter].axis].parameters {
			needed[p] = true
		}
	}
	for i := range slices.Backward(s.conditions) { // each comes after those it looks at
		c := &s.conditions[i]
		if !needed[c.parameter] {
			continue
		}
		v.conditions = append(v.conditions, c)
		for _, p := range c.looks {
			needed[p] = true
		}
	}
	slices.Reverse(v.conditions)
	for p := range needed {
		if a := s.parameters[p].axis; needed[p] && !slices.Contains(v.axes, a) {
			v.axes = append(v.axes, a)
		}
	}
	slices.Sort(v.axes)
	return v
}

// set sets the parameters to what the digits of the axes stand for.
func (v *ruleView) set(digits []int64) error {
	for i, axis := range v.axes {
		a := &v.space.axes[axis]
		for column, p := range a.parameters {
			v.numbers[p] = a.number(digits[i], column)
		}
	}
	for _, c := range v.conditions {
		holds, err := c.holds(v.numbers, v.get)
		if err != nil {
			return v.space.wrong(c.rule, c.looks, v.numbers, err)
		}
		if v.out[c.parameter] = !holds; !holds {
			v.numbers[c.parameter] = absent
		}
	}
	return nil
}

// wrong places the error of an expression, with the combination where it came about.
func (s *Space) wrong(rule int, looks []int, numbers []int64, err error) error {
	e, is := errors.AsType[*expr.Error](err)
	if !is {
		return err
	}
	return &ruleError{rule, e.Column, e.Problem + ", with " + s.at(looks, numbers), e.Remedy}
}

// applied tells for which combinations a rule held.
type applied struct {
	forSome bool // it held for one
	notAll  bool // it did not hold for one
}

// mostAsked bounds the combinations that all rules go through, each those of the parameters that
// are tied with its own: some seconds, which every program that opens the space needs once.
const mostAsked = 50_000_000

// bound refuses rules that take too long together.
func (s *Space) bound(b *grid.Builder, views []*ruleView) error {
	asked := int64(0)
	for i, v := range views {
		if len(v.axes) == 0 {
			continue
		}
		if asked += b.Codes(v.axes[0]); asked > mostAsked {
			return &ruleError{rule: i,
				problem: fmt.Sprintf("with this rule, the %d rules of the file "+
					"go through more than %d combinations of the parameters that they tie",
					len(views),
					mostAsked), remedy: "join rules by and, use fewer values of " +
					enumerate(s.plan.namesOf(s.varied(v)), "or") +
					", or split the sweep by one of them"}
		}
	}
	return nil
}

// varied returns the parameters that a rule depends on and that have several values.
func (s *Space) varied(v *ruleView) (all []int) {
	for _, a := range v.axes {
		if s.axes[a].count > 1 {
			all = append(all, s.axes[a].parameters...)
		}
	}
	return all
}

// apply builds the grid: all combinations of the axes without those that the rules take away, which
// are asked in turn.
func (s *Space) apply() (outcome []applied, err error) {
	if s.conditions, err = order(s.plan.rules); err != nil {
		return nil, err
	}
	s.prepareValues()
	views, tied := make([]*ruleView, len(s.plan.rules)), [][]int(nil)
	for i := range s.plan.rules {
		views[i] = s.view(&s.plan.rules[i])
		if len(views[i].axes) > 0 {
			tied = append(tied, views[i].axes)
		}
	}
	counts := make([]int64, len(s.axes))
	for i := range s.axes {
		counts[i] = s.axes[i].count
	}
	b, err := grid.New(counts, tied)
	if err != nil {
		return nil, s.placed(err)
	}
	if err := s.bound(b, views); err != nil {
		return nil, err
	}
	left := b.Left()
	s.combinations = left
	for i := range s.plan.rules {
		a, err := s.applyRule(b, i, views[i])
		if err != nil {
			return nil, err
		}
		now := b.Left()
		s.removed = append(s.removed, new(big.Int).Sub(left, now))
		outcome, left = append(outcome, a), now
		if now.Sign() == 0 {
			return nil, s.nothingLeft(i)
		}
	}
	g, err := b.Grid()
	if err != nil {
		return nil, s.placed(err)
	}
	s.grid = *g
	return outcome, nil
}

func (s *Space) applyRule(b *grid.Builder, i int, v *ruleView) (a applied, err error) {
	rejects := s.rejects(i, v, &a)
	if len(v.axes) > 0 {
		return a, b.Remove(v.axes, rejects)
	}
	gone, err := rejects(nil) // a rule of constants
	if err == nil && gone {
		err = s.nothingLeft(i)
	}
	return a, err
}

// rejects returns which combinations a rule takes away, by the digits of its axes.
func (s *Space) rejects(i int, v *ruleView, to *applied) func(digits []int64) (bool, error) {
	if r := &s.plan.rules[i]; r.kind == when {
		return s.repeatsWithout(r, v, to)
	}
	return s.breaks(i, v, to)
}

// repeatsWithout returns which combinations differ only in a parameter that is not there by a rule:
// those are one, the first.
func (s *Space) repeatsWithout(r *rule, v *ruleView, to *applied) func([]int64) (bool, error) {
	at := s.parameters[r.parameter].axis
	digit, axis := slices.Index(v.axes, at), &s.axes[at]
	first := &firstDigits{s, axis, map[string][]int64{}, make([]byte, len(axis.parameters))}
	return func(digits []int64) (bool, error) {
		if err := v.set(digits); err != nil {
			return false, err
		}
		out := v.out[r.parameter]
		to.forSome, to.notAll = to.forSome || !out, to.notAll || out
		return out && first.of(digits[digit], v.out) != digits[digit], nil
	}
}

// breaks returns which combinations a where rejects, or an exclude matches. A combination that
// lacks a parameter of the rule stays.
func (s *Space) breaks(i int, v *ruleView, to *applied) func([]int64) (bool, error) {
	r := &s.plan.rules[i]
	looks := r.names()
	holds := s.condition(r, v, looks, i)
	return func(digits []int64) (bool, error) {
		if err := v.set(digits); err != nil {
			return false, err
		}
		held := r.kind == where
		if !lacks(v.numbers, looks) {
			var err error
			if held, err = holds(); err != nil {
				return false, err
			}
		}
		to.forSome, to.notAll = to.forSome || held, to.notAll || !held
		return held == (r.kind == exclude), nil
	}
}

// condition returns what a rule asks of the combination that it sees.
func (s *Space) condition(r *rule, v *ruleView, looks []int, i int) func() (bool, error) {
	if r.expr != nil {
		return func() (bool, error) {
			held, err := r.expr.Match(v.get)
			if err != nil {
				err = s.wrong(i, looks, v.numbers, err)
			}
			return held, err
		}
	}
	all := make([]map[int64]bool, len(r.values))
	for k, o := range r.values {
		all[k] = s.plan.parameters[o.parameter].having(o.values)
	}
	return func() (bool, error) {
		for k, o := range r.values {
			if !all[k][v.numbers[o.parameter]] {
				return false, nil
			}
		}
		return true, nil
	}
}

// firstDigits finds the first digit of an axis with which the parameters that are there have the
// same values.
type firstDigits struct {
	space *Space
	axis  *axis
	known map[string][]int64 // by which of the parameters are there
	mask  []byte
}

func (f *firstDigits) of(digit int64, out []bool) int64 {
	if len(f.axis.parameters) == 1 {
		if len(f.axis.masks) == 0 {
			f.axis.masks = append(f.axis.masks, "0")
		}
		return 0
	}
	for column, p := range f.axis.parameters {
		f.mask[column] = '1'
		if out[p] {
			f.mask[column] = '0'
		}
	}
	all, is := f.known[string(f.mask)]
	if !is {
		all = f.space.firstOfEqual(f.axis, f.mask)
		f.known[string(f.mask)] = all
		if mask := string(f.mask); !slices.Contains(f.axis.masks, mask) {
			f.axis.masks = append(f.axis.masks, mask)
		}
	}
	return all[digit]
}

// firstOfEqual is, by digit of an axis, the first with which the parameters of a mask have the same
// values.
func (s *Space) firstOfEqual(a *axis, mask []byte) []int64 {
	all, keys := make([]int64, a.count), make([]string, a.count)
	var key []byte
	for digit := range a.count {
		key = key[:0]
		for column, p := range a.parameters {
			if n := a.number(digit, column); mask[column] == '1' && n != absent {
				key = append(key, s.plan.parameters[p].value(n).identity()...)
			}
			key = append(key, 0)
		}
		all[digit], keys[digit] = digit, string(key)
	}
	firstOfEqual(keys, func(i, before int) { all[i] = int64(before) })
	return all
}

// tooManyTied says that rules look at parameters with more combinations than are listed.
type tooManyTied struct {
	parameters []int
	axes       int // of these parameters: 1 if they are one, or vary together
	codes      *big.Int
}

func (tooManyTied) Error() string { return "too many combinations are tied by rules" }

// placed is an error of the grid in terms of parameters.
func (s *Space) placed(err error) error {
	if over, is := errors.AsType[*grid.Overflow](err); is {
		return overflow{s.axes[over.Axis].parameters[0]}
	}
	if many, is := errors.AsType[*grid.TooMany](err); is {
		t := tooManyTied{axes: len(many.Axes), codes: many.Codes}
		for _, a := range many.Axes {
			t.parameters = append(t.parameters, s.axes[a].parameters...)
		}
		slices.Sort(t.parameters)
		return t
	}
	return err
}

func (s *Space) nothingLeft(i int) error {
	text := fmt.Sprintf("%s leaves no combination", s.plan.rules[i].describe(s.plan.parameters))
	if i > 0 {
		text += " of those that the rules before it leave"
	}
	return &ruleError{rule: i, problem: text, remedy: "change it, or the values of its parameters"}
}
