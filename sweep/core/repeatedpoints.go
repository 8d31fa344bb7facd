package core

import (
	"slices"

	"mlframework/sweep/space"
	"mlframework/sweep/table"
)

// Repeats returns the parameters that the sweep's spaces mark as repeats: results are means over
// them. It is empty if every task counts by itself.
func (r Record) Repeats() (names []string) {
	for _, s := range r.Spaces() {
		if s == nil {
			continue
		}
		for _, name := range s.Repeats() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Repeated returns the columns of the parameters by which repeats of one point differ from those of
// another: those that have several values, or that some tasks lack, in the order of the file and
// without the repeats themselves.
func (r Record) Repeated() []string {
	return r.pointColumns(func(name string) bool { return varies(r.Spaces(), name) })
}

// PointColumns returns the columns of all parameters but the repeats, in the order of the file:
// those in which the repeats of one point agree.
func (r Record) PointColumns() []string {
	return r.pointColumns(func(string) bool { return true })
}

func (r Record) pointColumns(has func(parameter string) bool) []string {
	names := []string{}
	if len(r.Workers) > 0 { // every task is the same point
		return names
	}
	repeats := r.Repeats()
	for _, name := range r.Schema().Parameters {
		if !slices.Contains(repeats, name) && has(name) {
			names = append(names, table.ParameterName(name))
		}
	}
	return names
}

// Varies reports whether tasks of the sweep differ in a parameter.
func (r Record) Varies(parameter string) bool {
	return len(r.Workers) == 0 && varies(r.Spaces(), parameter)
}

// varies reports whether tasks of spaces differ in a parameter.
func varies(spaces []*space.Space, name string) bool {
	var first *string
	for _, s := range spaces {
		parameters := s.Parameters()
		at := slices.IndexFunc(parameters, func(p space.Parameter) bool { return p.Name() == name })
		if at < 0 || parameters[at].Conditional() {
			return true
		}
		p := parameters[at]
		for n := range p.Len() {
			text := p.Value(n).Value
			if first == nil {
				first = &text
			} else if text != *first {
				return true
			}
		}
	}
	return false
}
