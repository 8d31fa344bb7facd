package core

import (
	"fmt"
	"math"
	"slices"

	"mlframework/sweep/space"
)

// Extended returns the record with those points of a space that its own spaces do not describe, as
// tasks behind the ones it has, and their number; if there are none, the record as it is. Points
// that were left out of the sweep when it was submitted are described, and stay out. It returns an
// error if the spaces cannot be compared, or if indexes of tasks would not fit 63 bits.
func (r Record) Extended(with *space.Space) (Record, int64, error) {
	spaces := r.spaces()
	parts, err := with.Without(r.Style, spaces...)
	if err != nil || len(parts) == 0 {
		return r, 0, err
	}
	var first int64
	for _, s := range spaces {
		first += s.Len()
	}
	next := first
	for _, part := range parts {
		if part.Len() > math.MaxInt64-next {
			return r, 0, fmt.Errorf("%d tasks and %d more are more than can be counted", next,
				part.Len())
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
