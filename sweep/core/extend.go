package core

import (
	"fmt"
	"math"
	"slices"

	"mlframework/sweep/space"
)

// Extended is the record with a space's points that its parameters did not describe so far, as tasks behind those it has,
// and how many these are; with none it is the record as it was. What was left out of the sweep when it was submitted was
// described, and stays out. An error says why the two cannot be compared.
func (r Record) Extended(with *space.Space) (Record, int64, error) {
	spaces := r.spaces()
	parts, err := with.Without(r.Style, spaces...)
	if err != nil || len(parts) == 0 {
		return r, 0, err
	}
	first := end(spaces)
	next := first
	for _, part := range parts {
		if part.Len() > math.MaxInt64-next {
			return r, 0, fmt.Errorf("%d tasks and %d more are more than can be counted", next, part.Len())
		}
		next += part.Len()
	}
	r.Extensions = slices.Concat(r.Extensions, parts)
	r.Version = max(r.Version, r.LeastVersion())
	if len(r.Ranges) > 0 {
		r.Ranges = append(slices.Clone(r.Ranges), Range{first, next})
	}
	return r, next - first, nil
}
