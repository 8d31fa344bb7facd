package core

// Range is the points [From, To).
type Range struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// Ranges are points in ascending order, without overlap. The n-th of them is the n-th task of a sweep. Empty ranges are
// every point.
type Ranges []Range

// Len is how many points the ranges hold; 0 for empty ranges.
func (rs Ranges) Len() (n int64) {
	for _, r := range rs {
		n += r.To - r.From
	}
	return n
}

// At is the index of the n-th point. Behind the last it goes on counting.
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

// Ordinal is the inverse of At; false when the point is not in the ranges.
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

// Add appends a point behind the last.
func (rs *Ranges) Add(index int64) {
	if last := len(*rs) - 1; last >= 0 && (*rs)[last].To == index {
		(*rs)[last].To++
		return
	}
	*rs = append(*rs, Range{index, index + 1})
}
