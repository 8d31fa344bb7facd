package space

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"mlframework/sweep/expr"
)

// storedRules is what a space has beside its parameters. Rules are kept as they are written.
// A change of the points that they stand for needs another version; Count finds one that was
// forgotten.
type storedRules struct {
	Listed  *storedList  `json:"listed,omitempty"`
	Zip     [][]string   `json:"zip,omitempty"`
	Rules   []storedRule `json:"rules,omitempty"`
	Include [][]*value   `json:"include,omitempty"` // of all parameters; null: it is not there
	Repeat  []string     `json:"repeat,omitempty"`
	Sample  *sample      `json:"sample,omitempty"`
	Kept    string       `json:"kept,omitempty"` // see packed
	Limit   int64        `json:"limit,omitempty"`
	Count   int64        `json:"count,omitempty"` // points
}

// storedList is an explicit list of points, by the numbers of values.
type storedList struct {
	Parameters []string  `json:"parameters"`
	Rows       [][]int64 `json:"rows"` // -1: it is not there
}

// storedRule is where, exclude or when: a text, or the values of exclude.
type storedRule struct {
	Where     string         `json:"where,omitempty"`
	Exclude   string         `json:"exclude,omitempty"`
	When      string         `json:"when,omitempty"`
	Parameter string         `json:"parameter,omitempty"` // of when
	Values    []storedValues `json:"values,omitempty"`    // of exclude
}

type storedValues struct {
	Parameter string  `json:"parameter"`
	Values    []value `json:"values"`
}

func (p *plan) namesOf(parameters []int) (names []string) {
	for _, i := range parameters {
		names = append(names, p.parameters[i].name)
	}
	return names
}

// stored returns the rules of a space as they are kept.
func (s *Space) stored() (form storedRules) {
	p := &s.plan
	if len(p.listed.parameters) > 0 {
		form.Listed = &storedList{p.namesOf(p.listed.parameters), p.listed.rows}
	}
	for _, group := range p.zipped {
		form.Zip = append(form.Zip, p.namesOf(group))
	}
	for i := range p.rules {
		form.Rules = append(form.Rules, p.rules[i].stored(p))
	}
	for _, point := range p.included {
		row := make([]*value, len(point))
		for i, n := range point {
			if n != absent {
				v := p.parameters[i].value(n)
				row[i] = &v
			}
		}
		form.Include = append(form.Include, row)
	}
	form.Repeat, form.Sample = p.namesOf(p.repeats), p.sample
	form.Limit, form.Count = p.limit, s.Len()
	if p.kept != nil {
		form.Kept = packed(p.kept)
	}
	return form
}

func (r *rule) stored(p *plan) (form storedRule) {
	switch r.kind {
	case where:
		form.Where = r.text
	case exclude:
		form.Exclude = r.text
	case when:
		form.When, form.Parameter = r.text, p.parameters[r.parameter].name
	}
	for _, o := range r.values {
		form.Values = append(form.Values, storedValues{p.parameters[o.parameter].name, o.values})
	}
	return form
}

// decodedPlan is a plan while it is put together again.
type decodedPlan struct {
	plan
	index map[string]int
}

func (r *decodedPlan) find(names []string) (all []int, err error) {
	for _, name := range names {
		i, ok := r.index[name]
		if !ok {
			return nil, fmt.Errorf("it has no parameter %q", name)
		}
		all = append(all, i)
	}
	return all, nil
}

// Lookup and Unknown resolve the names of expressions.
func (r *decodedPlan) Lookup(name string) (int, bool) { i, ok := r.index[name]; return i, ok }

// Unknown returns what is wrong with a name that no parameter has.
func (r *decodedPlan) Unknown(name string) (problem, remedy string) {
	return fmt.Sprintf("it has no parameter %q", name), "it was stored by another program"
}

// restore puts a plan together of what MarshalJSON wrote.
func (form storedRules) restore(parameters []parameter) (p plan, err error) {
	r := decodedPlan{plan: plan{parameters: parameters, sample: form.Sample, limit: form.Limit},
		index: map[string]int{}}
	for i := range parameters {
		r.index[parameters[i].name] = i
	}
	grouped := map[int]bool{}
	if form.Listed != nil {
		if err := r.list(*form.Listed, grouped); err != nil {
			return p, err
		}
	}
	for _, names := range form.Zip {
		group, err := r.find(names)
		if err != nil || len(group) < 2 {
			return p, errors.Join(err, errors.New("a group of zip has fewer than two parameters"))
		}
		for _, i := range group {
			if grouped[i] || parameters[i].count() != parameters[group[0]].count() {
				return p, fmt.Errorf("parameter %q cannot be in its group of zip",
					parameters[i].name)
			}
			grouped[i] = true
		}
		r.zipped = append(r.zipped, group)
	}
	for _, stored := range form.Rules {
		if err := r.rule(stored); err != nil {
			return p, err
		}
	}
	for _, row := range form.Include {
		if err := r.include(row); err != nil {
			return p, err
		}
	}
	if r.repeats, err = r.find(form.Repeat); err != nil {
		return p, err
	}
	if s := r.sample; s != nil && (s.Combinations < 1 || s.Combinations > mostSampled) ||
		form.Limit < 0 {
		return p, errors.New("its sample or limit is out of range")
	}
	if form.Kept != "" {
		r.kept, err = unpacked(form.Kept)
	}
	return r.plan, err
}

func (r *decodedPlan) list(form storedList, grouped map[int]bool) (err error) {
	if r.listed.parameters, err = r.find(form.Parameters); err != nil {
		return err
	}
	for _, i := range r.listed.parameters {
		if grouped[i] || r.parameters[i].span != nil {
			return fmt.Errorf("parameter %q cannot be in its list of points", r.parameters[i].name)
		}
		grouped[i] = true
	}
	if len(form.Rows) == 0 || len(form.Parameters) == 0 {
		return errors.New("its list of points is empty")
	}
	for _, row := range form.Rows {
		if len(row) != len(form.Parameters) {
			return errors.New("a point of its list has not as many values as parameters")
		}
		for column, n := range row {
			if n < absent || n >= r.parameters[r.listed.parameters[column]].count() {
				return fmt.Errorf("value %d of %q is not there", n, form.Parameters[column])
			}
		}
	}
	r.listed.rows = form.Rows
	return nil
}

func (r *decodedPlan) rule(form storedRule) (err error) {
	var made rule
	switch {
	case form.Where != "":
		made = rule{kind: where, text: form.Where}
	case form.When != "":
		made = rule{kind: when, text: form.When}
		var of []int
		if of, err = r.find([]string{form.Parameter}); err != nil {
			return err
		}
		made.parameter = of[0]
	default:
		made = rule{kind: exclude, text: form.Exclude}
	}
	if made.text != "" {
		made.expr, err = expr.Parse(made.text, r)
	} else if len(form.Values) == 0 {
		err = errors.New("a rule is empty")
	}
	for _, v := range form.Values {
		of, unknown := r.find([]string{v.Parameter})
		if unknown != nil {
			return unknown
		}
		made.values = append(made.values, oneOf{of[0], v.Values})
	}
	r.rules = append(r.rules, made)
	return err
}

func (r *decodedPlan) include(row []*value) error {
	if len(row) != len(r.parameters) {
		return errors.New("an included point has not as many values as there are parameters")
	}
	point := make([]int64, len(row))
	for i, v := range row {
		if point[i] = absent; v != nil {
			point[i] = r.parameters[i].number(*v)
		}
	}
	r.included = append(r.included, point)
	return nil
}

// packed returns an ascending list of numbers as text: how many are left out and how many follow
// each other, in turn.
func packed(all []int64) string {
	var data []byte
	next := int64(0)
	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && all[end] == all[end-1]+1 {
			end++
		}
		data = binary.AppendUvarint(data, uint64(all[i]-next))
		data = binary.AppendUvarint(data, uint64(end-i))
		next, i = all[end-1]+1, end
	}
	return base64.RawStdEncoding.EncodeToString(data)
}

func unpacked(text string) (all []int64, err error) {
	data, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	next := uint64(0)
	for len(data) > 0 {
		gap, n := binary.Uvarint(data)
		run, m := binary.Uvarint(data[max(n, 0):])
		if n <= 0 || m <= 0 || run == 0 || gap > math.MaxInt64-next ||
			run > mostKept-uint64(len(all)) || next+gap > math.MaxInt64-run {
			return nil, errors.New("its list of kept points is not one")
		}
		for next += gap; run > 0; run-- {
			all, next = append(all, int64(next)), next+1
		}
		data = data[n+m:]
	}
	return slices.Clip(all), nil
}
