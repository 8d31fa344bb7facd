package core

import (
	"slices"

	"mlframework/sweep/space"
	"mlframework/sweep/table"
)

// Repeats are the parameters that the sweep's space marks as repeats: what is of interest is the mean over them. None: every task
// stands for itself.
func (r Record) Repeats() (names []string) {
	for _, s := range r.spaces() {
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

// Repeated are the columns of the parameters that tell the repeats of one point from those of another: those that have several values, or that
// some tasks lack, in the order of the file, without the repeats themselves.
func (r Record) Repeated() []string {
	names := []string{}
	if len(r.Workers) > 0 { // every task is the same point
		return names
	}
	repeats := r.Repeats()
	for _, name := range r.Schema().Parameters {
		if !slices.Contains(repeats, name) && varies(r.spaces(), name) {
			names = append(names, table.ParameterName(name))
		}
	}
	return names
}

// varies reports whether tasks of spaces differ in a parameter.
func varies(spaces []*space.Space, name string) bool {
	var first *string
	for _, s := range spaces {
		of := slices.IndexFunc(s.Parameters(), func(p space.Parameter) bool { return p.Name() == name })
		if of < 0 || s.Parameters()[of].Conditional() {
			return true
		}
		p := s.Parameters()[of]
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
