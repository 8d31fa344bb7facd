package failure

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Failure is a task that failed.
type Failure struct {
	Class, Reason string
	Sweep         string // "": all are of one
	Frame         string // as Tail.Frame
	Index         int64  // of the task
	Host          string
	Time          time.Time // when it failed; zero: not known
}

// Group is failures that are alike.
type Group struct {
	Failure // the first of them; Reason is masked where theirs differ, and Frame "" if they do
	Count   int64
	Spread  // of failures that name their sweep
}

// How many texts are looked at, and how many groups there are at most.
const (
	mostTexts  = 1 << 12
	mostGroups = 100
)

// Grouping is failures by group.
type Grouping struct {
	Groups []Group // the most frequent first
	Others int64   // failures that are in none of them
	index  map[alike]int
	masker masker
}

// Index returns which of the groups a failure is in; -1: in none. It is for one goroutine.
func (g *Grouping) Index(class, reason string) int {
	g.masker.read(reason)
	if i, in := g.index[alike{class, string(g.masker.text)}]; in {
		return i
	}
	return -1
}

// Groups groups failures, which all yields sweep by sweep in the order of their tasks: those of a
// class whose reasons are alike are one group. Where there are many different reasons it looks at
// all of the failures twice. Its memory is bounded.
func Groups(all func(yield func(Failure)) error) (Grouping, error) {
	c := counter{groups: map[alike]*member{}}
	if err := all(c.add); err != nil {
		return Grouping{}, err
	}
	if c.dropped { // what is left was not counted from the beginning on
		c.keep(mostGroups)
		if err := all(c.add); err != nil {
			return Grouping{}, err
		}
	}
	g := Grouping{Others: c.total, index: map[alike]int{}}
	at := map[*member]int{}
	for i, one := range c.ordered() {
		if i == mostGroups {
			break
		}
		at[one] = i
		g.Groups = append(g.Groups, one.group())
		g.Others -= one.count
	}
	for key, one := range c.groups {
		if i, shown := at[one]; shown {
			g.index[key] = i
		}
	}
	return g, nil
}

// alike is what the failures of a group have in common.
type alike struct{ class, text string }

// member is the first failure of a group, and what is known of the others.
type member struct {
	Failure
	Spread
	sweep   string // of the failure that was added last
	count   int64
	slots   []slot // of Reason
	end     int    // of what of Reason counts
	several bool   // their reasons differ
	differs []int  // of each slot the length, from its beginning, of what differs there
}

// group is the group as it is shown.
func (g *member) group() Group {
	shown := Group{g.Failure, g.count, g.Spread}
	if !g.several {
		return shown
	}
	var b strings.Builder
	at := 0
	for i, s := range g.slots {
		b.WriteString(g.Reason[at:s.from])
		if g.differs[i] > 0 {
			b.WriteString(Masked)
		}
		at = s.from + g.differs[i]
	}
	b.WriteString(g.Reason[at:g.end])
	if g.end < len(g.Reason) && !strings.HasSuffix(b.String(), Masked) {
		b.WriteString(Masked)
	}
	shown.Reason = b.String()
	return shown
}

// compare notes where the reason of another failure differs.
func (g *member) compare(reason string, slots []slot) {
	if !g.several {
		g.several, g.differs = true, make([]int, len(g.slots))
	}
	for i := range min(len(slots), len(g.slots)) {
		a, b := g.slots[i], slots[i]
		g.differs[i] = max(g.differs[i], differing(g.Reason[a.from:a.to], reason[b.from:b.to]))
	}
}

// compareFrame notes whether another failure was raised elsewhere.
func (g *member) compareFrame(f Failure) {
	if g.Frame != f.Frame {
		g.Frame = ""
	}
}

// differing returns how much of a, from its beginning, is not in b: all but the last elements of a
// path that both have.
func differing(a, b string) int {
	if a == b {
		return 0
	}
	from := len(a)
	for n := 1; n < min(len(a), len(b)) && a[len(a)-n] == b[len(b)-n]; n++ {
		if c := a[len(a)-n]; c == '/' || c == '\\' {
			from = len(a) - n
		}
	}
	return from
}

// counter counts failures by group.
type counter struct {
	groups  map[alike]*member
	masker  masker
	total   int64
	dropped bool // some groups, which were rare
	fixed   bool // no groups are added
	last    *member
	reason  string // of the last failure, which was added to last
}

func (c *counter) add(f Failure) {
	c.total++
	if c.last != nil && c.reason == f.Reason && c.last.Class == f.Class {
		c.last.count++
		c.last.spread(&f)
		c.last.compareFrame(f)
		return
	}
	c.masker.read(f.Reason)
	g := c.groups[alike{f.Class, string(c.masker.text)}]
	switch {
	case g == nil && c.fixed:
		return
	case g == nil:
		if len(c.groups) == mostTexts {
			c.drop()
		}
		g = &member{}
		c.groups[alike{f.Class, string(c.masker.text)}] = g
		fallthrough
	case g.count == 0: // the first, or the first that is counted anew
		*g = member{Failure: f, slots: slices.Clone(c.masker.slots), end: c.masker.end}
	case g.Reason != f.Reason:
		g.compare(f.Reason, c.masker.slots)
	}
	g.count++
	g.spread(&f)
	g.compareFrame(f)
	c.last, c.reason = g, f.Reason
}

// drop makes room by dropping the rarest half.
func (c *counter) drop() {
	c.dropped = true
	c.forget(mostTexts / 2)
}

// keep keeps the most frequent, to be counted anew.
func (c *counter) keep(n int) {
	c.forget(n)
	for _, g := range c.groups {
		g.count = 0
	}
	c.total, c.fixed, c.last = 0, true, nil
}

// forget leaves the n most frequent.
func (c *counter) forget(n int) {
	left := map[*member]bool{}
	for _, g := range c.ordered()[:min(n, len(c.groups))] {
		left[g] = true
	}
	for k, g := range c.groups {
		if !left[g] {
			delete(c.groups, k)
		}
	}
	c.last = nil
}

// ordered are the groups, the most frequent first.
func (c *counter) ordered() (all []*member) {
	for _, g := range c.groups {
		if g.count > 0 {
			all = append(all, g)
		}
	}
	slices.SortFunc(all, func(a, b *member) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.Sweep, b.Sweep),
			cmp.Compare(a.Index, b.Index))
	})
	return all
}
