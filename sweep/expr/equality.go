package expr

// Equality is a comparison of a slot with a value that stands in the expression, by = or !=, or
// with one of the values of a list, by in or not in.
type Equality struct {
	Slot   int
	Column int    // of the value, in characters, from 1
	Text   string // the value as it is written, without quotes
	Quoted bool

	slot, literal *node
}

// Equals reports whether a value of the slot is the one that it is compared with.
func (q Equality) Equals(v Value) bool { return equal(q.slot, q.literal, v, q.literal.value) }

// IsNumber reports whether the slot is compared with a number.
func (q Equality) IsNumber() bool { return q.literal.value.Kind != Text }

// Equalities returns those of the expression, in its order.
func (e *Expr) Equalities() (all []Equality) {
	add := func(slot, literal *node) {
		if slot.kind == slotNode && literal.kind == literalNode {
			all = append(all, Equality{slot.slot, literal.at, literal.word, literal.quoted, slot,
				literal})
		}
	}
	visit := func(n *node) {
		switch {
		case n.kind == inNode:
			for _, one := range n.args[1:] {
				add(n.args[0], one)
			}
		case n.kind == compareNode && (n.op == equals || n.op == differs):
			add(n.args[0], n.args[1])
			add(n.args[1], n.args[0])
		}
	}
	if e.root != nil {
		e.root.each(visit)
	}
	return all
}
