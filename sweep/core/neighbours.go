package core

import "slices"

// Neighbour is a task that differs from another in the value of one parameter.
type Neighbour struct {
	Index            int64
	Parameter, Value string
}

// Neighbours returns the tasks that differ from one in a single parameter, in the order of the file:
// of each parameter those with the nearest values, at most so many before and after its own. Those
// that other rules or ranges leave out are not among them.
func (r Record) Neighbours(index, nearest int64) (all []Neighbour) {
	p := r.Points()
	if p.onlyFirst {
		return nil
	}
	in, own := p.locate(index)
	before := index - own // tasks of the spaces before
	s := p.spaces[in]
	point := s.Point(own)
	for i, a := range point {
		c, ok := s.Column(a.Name)
		if !ok {
			continue
		}
		n := c.At(own)
		for v := max(0, n-nearest); v < min(c.Len(), n+nearest+1); v++ {
			other := slices.Clone(point)
			other[i] = c.Value(v)
			at, ok := s.Index(other)
			if _, has := r.Ranges.Ordinal(before + at); ok && has && at != own {
				all = append(all, Neighbour{before + at, a.Name, other[i].Value})
			}
		}
	}
	return all
}
