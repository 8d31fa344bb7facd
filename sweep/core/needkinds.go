package core

import (
	"cmp"
	"fmt"
)

// needKinds is a set of different needs of sweeps, a bit each. A worker keeps a set of those that it
// has no room for, so that a placement passes over most workers without a look at their hosts.
type needKinds uint64

// moreKinds is the bit of all needs for which no other is free. No worker keeps it.
const moreKinds needKinds = 1 << 63

// needKind is needs that some sweeps have in common.
type needKind struct {
	bit    needKinds
	sweeps int
}

// countKind counts a sweep among those with the same needs, and gives the needs their bit.
func (c *Core) countKind(n *needs, by int) {
	key := ""
	if !n.None() { // as of most sweeps, which come and go at many inputs
		key = fmt.Sprintf("%#v", n.Needs)
	}
	k := c.kinds[key]
	if k == nil {
		free := ^(c.kindsUsed | moreKinds)
		k = &needKind{bit: cmp.Or(free&-free, moreKinds)}
		c.kinds[key] = k
		c.kindsUsed |= k.bit
		for _, w := range c.ordered { // the bit may be that of needs that are gone
			w.noRoomFor &^= k.bit
		}
	}
	n.kind = k.bit
	if k.sweeps += by; k.sweeps == 0 {
		delete(c.kinds, key)
		c.kindsUsed &^= k.bit &^ moreKinds
	}
}

// setNoRoom notes that a worker has no room for a task with these needs until its host changes.
func (w *worker) setNoRoom(n *needs) { w.noRoomFor |= n.kind &^ moreKinds }

// forgetNoRoom has placements look at the workers of a host again, as something of it changed.
func (h *host) forgetNoRoom() {
	for _, w := range h.workers {
		w.noRoomFor = 0
	}
}
