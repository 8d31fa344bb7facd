package core

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
