package core

import (
	"cmp"
	"slices"
)

// Range is the indexes [From, To).
type Range struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// Ranges are indexes of points in ascending order, without overlap. The n-th of them, counted from
// 0, is the n-th task of a sweep. Empty ranges are every point.
type Ranges []Range

// Len returns how many points the ranges hold; 0 if they are empty.
func (rs Ranges) Len() (n int64) {
	for _, r := range rs {
		n += r.To - r.From
	}
	return n
}

// At returns the index of the n-th point. Beyond the last point it continues counting.
func (rs Ranges) At(n int64) int64 {
	end := int64(0)
	for _, r := range rs {
		if n < r.To-r.From {
			return r.From + n
		}
		n -= r.To - r.From
		end = r.To
	}
	return end + n
}

// Ordinal is the inverse of At. It returns false if the point is not in the ranges.
func (rs Ranges) Ordinal(index int64) (int64, bool) {
	if len(rs) == 0 {
		return index, true
	}
	var before int64
	for _, r := range rs {
		if index >= r.From && index < r.To {
			return before + index - r.From, true
		}
		before += r.To - r.From
	}
	return 0, false
}

// First returns the first n points.
func (rs Ranges) First(n int64) (first Ranges) {
	if len(rs) == 0 {
		return Ranges{{To: n}}
	}
	for _, r := range rs {
		if n > 0 {
			first = append(first, Range{r.From, min(r.To, r.From+n)})
			n -= r.To - r.From
		}
	}
	return first
}

// Add appends a point, which must be behind the last.
func (rs *Ranges) Add(index int64) {
	if last := len(*rs) - 1; last >= 0 && (*rs)[last].To == index {
		(*rs)[last].To++
		return
	}
	*rs = append(*rs, Range{index, index + 1})
}

// Has reports whether an index is in one of the ranges: in none, if they are empty.
func (rs Ranges) Has(index int64) bool {
	_, found := slices.BinarySearchFunc(rs, index, func(r Range, index int64) int {
		switch {
		case r.To <= index:
			return -1
		case r.From > index:
			return 1
		}
		return 0
	})
	return found
}

// Union returns the indexes that are in either ranges, none of which has every index.
func (rs Ranges) Union(others Ranges) (all Ranges) {
	sorted := slices.SortedFunc(slices.Values(slices.Concat(rs, others)),
		func(a, b Range) int { return cmp.Compare(a.From, b.From) })
	for _, r := range sorted {
		if last := len(all) - 1; last >= 0 && r.From <= all[last].To {
			all[last].To = max(all[last].To, r.To)
		} else {
			all = append(all, r)
		}
	}
	return all
}

// Without returns the indexes that are in rs and not in others, none of which has every index.
func (rs Ranges) Without(others Ranges) (left Ranges) {
	next := 0 // the first of others that may hold an index of the range
	for _, r := range rs {
		for next < len(others) && others[next].To <= r.From {
			next++
		}
		for _, o := range others[next:] {
			if o.From >= r.To {
				break
			}
			if r.From < o.From {
				left = append(left, Range{r.From, o.From})
			}
			r.From = min(o.To, r.To)
		}
		if r.From < r.To {
			left = append(left, r)
		}
	}
	return left
}
