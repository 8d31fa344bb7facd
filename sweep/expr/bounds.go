package expr

import "math"

// Bounds returns between which numbers a slot that always has a number must be for the expression
// to hold, as far as that is plain: infinite where it is not. Between them it need not hold.
func (e *Expr) Bounds(slot int) (low, high float64) {
	if e.root == nil {
		return math.Inf(-1), math.Inf(1)
	}
	return e.root.bounds(slot)
}

func (n *node) bounds(slot int) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	switch n.kind {
	case andNode, orNode:
		low, high = n.args[0].bounds(slot)
		otherLow, otherHigh := n.args[1].bounds(slot)
		if n.kind == andNode {
			return max(low, otherLow), min(high, otherHigh)
		}
		return min(low, otherLow), max(high, otherHigh)
	case inNode:
		if n.op != equals || !n.args[0].isSlot(slot) {
			return low, high
		}
		first, last := high, low
		for _, a := range n.args[1:] {
			if !a.isNumber() {
				return low, high
			}
			first, last = min(first, a.value.Number), max(last, a.value.Number)
		}
		return first, last
	case compareNode:
		op, a, b := n.op, n.args[0], n.args[1]
		if b.isSlot(slot) {
			op, a, b = op.flipped(), b, a
		}
		if !a.isSlot(slot) || !b.isNumber() {
			return low, high
		}
		switch op {
		case equals:
			low, high = b.value.Number, b.value.Number
		case less, lessOrEqual:
			high = b.value.Number
		case greater, greaterOrEqual:
			low = b.value.Number
		}
	}
	return low, high
}

func (n *node) isSlot(slot int) bool { return n.kind == slotNode && n.slot == slot }

// isNumber reports whether the node is a literal that is a number.
func (n *node) isNumber() bool { return n.kind == literalNode && n.value.Kind == Number }

// flipped returns the operator with which a comparison says the same of its arguments exchanged.
func (o operator) flipped() operator {
	switch o {
	case less:
		return greater
	case lessOrEqual:
		return greaterOrEqual
	case greater:
		return less
	case greaterOrEqual:
		return lessOrEqual
	}
	return o
}
