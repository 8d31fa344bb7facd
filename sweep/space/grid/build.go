package grid

import (
	"fmt"
	"math/big"
	"slices"
)

// Builder makes a grid: axes and what ties them first, then what is removed.
type Builder struct {
	axes   []axis
	blocks []block
}

// TooMany says that tied axes have more than MostCodes combinations.
type TooMany struct {
	Axes  []int // in their order
	Codes *big.Int
}

func (e *TooMany) Error() string {
	return fmt.Sprintf("%d tied axes have %d combinations, %d is the most", len(e.Axes), e.Codes,
		MostCodes)
}

// Overflow says that more combinations are left than an int64 counts.
type Overflow struct{ Axis int } // the first with which they are

func (e *Overflow) Error() string {
	return fmt.Sprintf("with axis %d there are more combinations than can be numbered", e.Axis)
}

// New begins a grid of axes with so many digits each, which is at least 1. Every element of tied
// are axes that one rule looks at. The error is a *TooMany.
func New(counts []int64, tied [][]int) (*Builder, error) {
	b := &Builder{axes: make([]axis, len(counts))}
	group := make([]int, len(counts)) // the first axis of its block, found by union
	for i := range group {
		group[i] = i
	}
	root := func(i int) int {
		for group[i] != i {
			i = group[i]
		}
		return i
	}
	listed := make([]bool, len(counts))
	for _, axes := range tied {
		for _, i := range axes {
			listed[i] = true
			first, other := root(axes[0]), root(i)
			group[max(first, other)] = min(first, other)
		}
	}
	for i, n := range counts {
		b.axes[i] = axis{count: n, stride: 1}
		if first := root(i); first < i {
			b.axes[i].block = b.axes[first].block
		} else {
			b.axes[i].block = len(b.blocks)
			b.blocks = append(b.blocks, block{})
		}
		of := &b.blocks[b.axes[i].block]
		of.axes = append(of.axes, i)
	}
	for i := range b.blocks {
		if err := b.number(&b.blocks[i], listed); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// number gives the axes of a block their strides, and the block its size.
func (b *Builder) number(of *block, listed []bool) error {
	codes := big.NewInt(1)
	for _, i := range of.axes {
		codes.Mul(codes, big.NewInt(b.axes[i].count))
	}
	if listed[of.axes[0]] && codes.Cmp(big.NewInt(MostCodes)) > 0 {
		return &TooMany{of.axes, codes}
	}
	of.codes = codes.Int64()
	of.count = of.codes
	stride := int64(1)
	for _, i := range slices.Backward(of.axes) {
		b.axes[i].stride = stride
		stride *= b.axes[i].count
	}
	return nil
}

// Codes returns the number of combinations of all axes that are tied to one, itself among them: so
// many are gone through for a rule that looks at it.
func (b *Builder) Codes(axis int) int64 { return b.blocks[b.axes[axis].block].codes }

// Left returns the number of combinations that are left.
func (b *Builder) Left() *big.Int {
	n := big.NewInt(1)
	for i := range b.blocks {
		n.Mul(n, big.NewInt(b.blocks[i].count))
	}
	return n
}

// Remove removes the combinations that a rule rejects. The rule looks at axes that are tied, at
// least one, given in their order, and is asked once for each combination of their digits with
// which anything is left; it must not keep the digits. Its first error ends everything.
func (b *Builder) Remove(axes []int, rejects func(digits []int64) (bool, error)) error {
	of := &b.blocks[b.axes[axes[0]].block]
	if of.alive == nil {
		of.alive = full(of.codes)
	}
	w := walk{builder: b, of: of, at: make([]int64, len(of.axes)),
		weight: make([]int64, len(of.axes)),
		place:  make([]int, len(axes)), digits: make([]int64, len(axes)), rejects: rejects}
	size := int64(1)
	for k := range slices.Backward(axes) {
		w.place[k] = slices.Index(of.axes, axes[k])
		w.weight[w.place[k]] = size
		size *= b.axes[axes[k]].count
	}
	if len(axes) < len(of.axes) {
		w.known = make([]answer, size)
	}
	if err := w.all(); err != nil {
		return err
	}
	if of.count = of.alive.count(); of.count == of.codes {
		of.alive = nil
	}
	return nil
}

// answer is what a rule said of one combination of its axes' digits.
type answer uint8

const (
	unasked answer = iota
	stays
	goes
)

// walk goes through the codes of a block for one rule.
type walk struct {
	builder *Builder
	of      *block
	at      []int64 // digits of the block's axes

	place   []int    // of the rule's axes among those of the block
	weight  []int64  // by axis of the block: what its digit adds to the index into known
	known   []answer // nil: the rule looks at all axes of the block
	digits  []int64  // of the rule's axes
	rejects func([]int64) (bool, error)
}

func (w *walk) all() error {
	index, last := int64(0), len(w.at)-1
	for code := int64(0); ; code++ {
		if w.of.alive.has(code) {
			a, err := w.ask(index)
			if err != nil {
				return err
			}
			if a == goes {
				w.of.alive.drop(code)
			}
		}
		if code == w.of.codes-1 {
			return nil
		}
		j := last
		for w.at[j]++; w.at[j] == w.builder.axes[w.of.axes[j]].count; w.at[j]++ {
			index -= (w.at[j] - 1) * w.weight[j]
			w.at[j] = 0
			j--
		}
		index += w.weight[j]
	}
}

func (w *walk) ask(index int64) (answer, error) {
	if w.known != nil && w.known[index] != unasked {
		return w.known[index], nil
	}
	for k, place := range w.place {
		w.digits[k] = w.at[place]
	}
	rejected, err := w.rejects(w.digits)
	a := stays
	if rejected {
		a = goes
	}
	if w.known != nil {
		w.known[index] = a
	}
	return a, err
}

// Grid returns what is left: a grid without combinations where the rules left none. It is called
// once, and nothing is removed after it. The error is an *Overflow.
func (b *Builder) Grid() (*Grid, error) {
	g := &Grid{axes: b.axes, blocks: b.blocks, total: 1}
	for i := range b.blocks {
		if b.blocks[i].count == 0 {
			g.total = 0
			return g, nil
		}
	}
	for i, a := range b.axes {
		if b.blocks[a.block].axes[0] != i {
			continue
		}
		var ok bool
		if g.total, ok = product(g.total, b.blocks[a.block].count); !ok {
			return nil, &Overflow{i}
		}
	}
	return g, nil
}
