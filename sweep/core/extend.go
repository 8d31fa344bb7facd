package core

import (
	"fmt"
	"math"
	"slices"

	"mlframework/sweep/space"
)

// ExtendSweep gives a sweep the points of a space that its parameters did not describe so far, as
// tasks behind those it has, and resumes it if it had ended or was paused. Where there is nothing
// to add the sweep stays as it is.
type ExtendSweep struct {
	Sweep string
	Space *space.Space
	With  Revision
}

func (s ExtendSweep) decide(c *Core) (func(), error) {
	a, err := c.findSweep(s.Sweep)
	if err != nil {
		return nil, err
	}
	h := a.ledger.Head()
	switch {
	case a.record.EachWorker:
		return nil, &WrongState{ID: h.ID, Is: "a sweep with a task for each worker, not for points",
			Remedy: "submit it again for the workers that there are now"}
	case h.State == Cancelled || a.ledger.hasCancelledUnissued():
		return nil, &WrongState{ID: h.ID, Is: "cancelled, all of it or a part",
			Remedy: "`run-tasks retry " + h.ID +
				"` runs what was cancelled; then it can be extended"}
	}
	extended, n, err := a.record.Extended(s.Space)
	if err != nil {
		return nil, &WrongState{ID: h.ID, Is: "not to be extended: " + err.Error(),
			Remedy: "submit what is new as a sweep of its own"}
	}
	if n > 0 {
		if _, err := extended.Stored(); err != nil {
			return nil, err
		}
		if err := c.CheckNeeds(h.ID, a.record.Recipe.Needs); err != nil {
			return nil, err
		}
	}
	return func() {
		if n > 0 {
			s.extend(c, a, &extended, n)
		}
	}, c.checkEnviron(s.With.Environ)
}

// extend adds n tasks, which an extended record describes.
func (s ExtendSweep) extend(c *Core, a *activeSweep, extended *Record, n int64) {
	s.With.goOn(c, a)
	r := *a.record // as it was revised
	r.Extensions, r.Ranges = extended.Extensions, extended.Ranges
	if o := s.With.Overrides; o != nil && o.IsZero() {
		r.Overrides = nil
	} else if o != nil {
		r.Overrides = o
	}
	c.rewrite(a, r)
	c.queueBehind(a)
	c.ledger(a).Extend(r, n)
}

// Extended returns the record with those points of a space that its own spaces do not describe, as
// tasks behind the ones it has, and their number; if there are none, the record as it is. Points
// that were left out of the sweep when it was submitted are described, and stay out. It returns an
// error if the spaces cannot be compared, or if indexes of tasks would not fit 63 bits.
func (r Record) Extended(with *space.Space) (Record, int64, error) {
	spaces := r.Spaces()
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
	if len(r.Ranges) > 0 {
		r.Ranges = append(slices.Clone(r.Ranges), Range{first, next})
	}
	return r, next - first, nil
}
