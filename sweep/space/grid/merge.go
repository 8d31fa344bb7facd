package grid

import "slices"

// Classes says which digits of an axis count as one: those of one class. Every class has a digit.
type Classes struct {
	Count int64   // of classes
	Of    []int64 // the class of each digit; nil: all digits are of class 0
}

func (c *Classes) of(digit int64) int64 {
	switch {
	case c == nil:
		return digit
	case c.Of == nil:
		return 0
	}
	return c.Of[digit]
}

// Merge returns the grid whose digits, on the axes that classes names, are classes of digits of g.
// A combination of it is left where g has one of its digits. It takes the time and the memory of
// the blocks that have one of these axes; the others are shared with g.
func (g *Grid) Merge(classes map[int]Classes) *Grid {
	m := &Grid{axes: slices.Clone(g.axes), blocks: slices.Clone(g.blocks), total: 1}
	for i := range m.blocks {
		of := &m.blocks[i]
		by, merges := make([]*Classes, len(of.axes)), false
		for k, axis := range of.axes {
			if c, is := classes[axis]; is {
				by[k], merges = &c, true
			}
		}
		if merges {
			m.merge(g, of, by)
		}
		m.total *= of.count // no more than g has
	}
	return m
}

// merge merges the digits of a block, by the classes of each of its axes.
func (m *Grid) merge(g *Grid, of *block, by []*Classes) {
	stride := int64(1)
	for k, axis := range slices.Backward(of.axes) {
		a := &m.axes[axis]
		if by[k] != nil {
			a.count = by[k].Count
		}
		a.stride = stride
		stride *= a.count
	}
	from := of.alive
	of.codes, of.count, of.alive = stride, stride, nil
	if from == nil {
		return
	}
	left := empty(of.codes)
	for code, ok := from.next(0); ok; code, ok = from.next(code + 1) {
		merged, rest := int64(0), code
		for k, axis := range of.axes {
			digit := rest / g.axes[axis].stride
			rest -= digit * g.axes[axis].stride
			merged += by[k].of(digit) * m.axes[axis].stride
		}
		left.add(merged)
	}
	if of.count = left.count(); of.count < of.codes {
		of.alive = left
	}
}
