// Package grid numbers the combinations of digits that are left of a mixed-radix system after some
// were removed.
//
// An axis is a digit; the first varies slowest. Without removals combination i is the number i
// written in these digits. Axes that a rule looks at together are tied. Tied axes form a block,
// whose combinations are a bitmap of at most MostCodes bits; an axis that no rule looks at is a
// block by itself and takes no memory, however many digits it has. What is left is the product of
// the blocks, in the order of the digits, also where the axes of several blocks alternate:
//
//	axes     a  b  c  d      a and c are tied, b and d are free
//	blocks   ╰──┼──╯  │      2 blocks of one axis, 1 of two
//	            ╰     ╰
//
// A combination is found from its number axis by axis: in each block the codes with the digits
// chosen so far are one run of its bitmap, the product of these runs' survivors is how many
// combinations begin with these digits, and one division tells in which of them the number falls.
// The way back is the same. Both cost a binary search for each axis.
//
// Only sweep/space, which knows what the digits stand for, imports the package.
package grid

import (
	"fmt"
	"math/bits"
)

// Grid is the combinations that are left, numbered from 0. It is immutable and may be used
// concurrently. The zero value has one combination, of no digits.
type Grid struct {
	axes   []axis
	blocks []block
	total  int64
}

type axis struct {
	count int64
	block int
	// stride is the number of codes of its block between two digits: the product of the counts of
	// the block's later axes.
	stride int64
}

// Len returns the number of combinations.
func (g *Grid) Len() int64 {
	if len(g.axes) == 0 {
		return 1
	}
	return g.total
}

// Size returns about how much memory the grid takes, in bytes.
func (g *Grid) Size() (n int) {
	for i := range g.blocks {
		if m := g.blocks[i].alive; m != nil {
			n += 8*len(m.words) + 4*len(m.before)
		}
	}
	return n + 64*len(g.axes)
}

// run is the codes of a block which begin with the digits chosen so far.
type run struct {
	low   int64 // its first code
	first int64 // how many survivors are before it
	count int64 // survivors in it
}

// few is how many blocks are worked on without an allocation.
const few = 24

func (g *Grid) runs(space []run) []run {
	if len(g.blocks) > len(space) {
		space = make([]run, len(g.blocks))
	}
	for i := range g.blocks {
		space[i] = run{count: g.blocks[i].count}
	}
	return space[:len(g.blocks)]
}

// Digits writes the digits of combination i, as many as there are axes. It panics unless 0 <= i <
// Len.
func (g *Grid) Digits(i int64, into []int64) {
	if i < 0 || i >= g.Len() {
		panic(fmt.Sprintf("grid: combination %d of %d", i, g.Len()))
	}
	var space [few]run
	runs, total := g.runs(space[:]), g.Len()
	for j := range g.axes {
		a := &g.axes[j]
		b, r := &g.blocks[a.block], &runs[a.block]
		others := total / r.count
		digit := (b.pick(r.first+i/others) - r.low) / a.stride
		skipped := r.narrow(b, a, digit)
		i -= skipped * others
		total = others * r.count
		into[j] = digit
	}
}

// narrow leaves of a run what has a digit, and returns how many survivors it had before that.
func (r *run) narrow(b *block, a *axis, digit int64) (skipped int64) {
	low := r.low + digit*a.stride
	first := b.rank(low)
	skipped = first - r.first
	r.low, r.first, r.count = low, first, b.rank(low+a.stride)-first
	return skipped
}

// Number returns the number of the combination with these digits. It is false where there is none,
// or where it was removed.
func (g *Grid) Number(digits []int64) (i int64, ok bool) {
	if len(digits) != len(g.axes) || g.Len() == 0 {
		return 0, false
	}
	var space [few]run
	runs, total := g.runs(space[:]), g.Len()
	for j := range g.axes {
		a := &g.axes[j]
		b, r := &g.blocks[a.block], &runs[a.block]
		if digits[j] < 0 || digits[j] >= a.count {
			return 0, false
		}
		others := total / r.count
		i += r.narrow(b, a, digits[j]) * others
		if r.count == 0 {
			return 0, false
		}
		total = others * r.count
	}
	return i, true
}

// product returns a * b, and whether an int64 holds it.
func product(a, b int64) (int64, bool) {
	high, low := bits.Mul64(uint64(a), uint64(b))
	return int64(low), high == 0 && int64(low) >= 0
}
