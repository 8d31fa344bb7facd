package result

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Sorter puts rows in order and keeps only what decides it: the key of each row and a number that
// its owner knows it by. Rows that are equal stay in the order in which they were added. Not for
// concurrent use.
type Sorter struct {
	fields Fields
	key    func(*Row) sortKey
	column column

	// Whether a column holds numbers only is known after its last row: until a text comes both
	// orders are kept.
	byNumber, byText *ordered
}

// sortKey is compared by place, then by number or text, then by order of arrival.
type sortKey struct {
	place    int
	cell     cell
	order    int64
	position int64
}

// NewSorter sorts by a column, as [Sort] says.
func NewSorter(s Schema, by string) (*Sorter, error) {
	name, descending := strings.CutPrefix(by, "-")
	c, ok := s.find(name)
	if !ok {
		problem, remedy := s.unknown(name)
		return nil, &UnknownColumn{Name: name, Text: fmt.Sprintf("%s; %s", problem, remedy)}
	}
	get := c.get
	if c.key != nil {
		get = c.key
	}
	sorter := &Sorter{fields: c.needs, column: c, byNumber: &ordered{descending: descending}}
	if !c.numeric {
		sorter.byText = &ordered{descending: descending, text: true}
	}
	sorter.key = func(r *Row) sortKey {
		value := get(r)
		return sortKey{place: sortPlace(value), cell: value}
	}
	return sorter, nil
}

// UnknownColumn says that there is no column to sort by.
type UnknownColumn struct{ Name, Text string }

func (e *UnknownColumn) Error() string { return e.Text }

// NewRanking puts the best first, as [Rank] says.
func NewRanking(o Objective) *Sorter {
	return &Sorter{fields: FieldState | FieldMetrics, byNumber: &ordered{}, key: func(r *Row) sortKey {
		place, value := o.place(r)
		if o.Maximize {
			value = -value
		}
		return sortKey{place: place, cell: cell{kind: number, num: value}}
	}}
}

// Fields are what the order looks at beside the index.
func (s *Sorter) Fields() Fields { return s.fields &^ fieldIndex }

// Bind takes the values of a parameter, if that is what is sorted by, from where they come from
// instead of from rows.
func (s *Sorter) Bind(dimension func(parameter string) Dimension) {
	if s.column.parameter == "" {
		return
	}
	value := remember(dimension(s.column.parameter), parameterCell)
	s.fields = 0
	s.key = func(r *Row) sortKey {
		c := value(r.Index)
		return sortKey{place: sortPlace(c), cell: c}
	}
}

// Keep forgets all but the first n rows; 0 keeps all. It is called before the first row is added.
func (s *Sorter) Keep(n int) {
	s.byNumber.most = n
	if s.byText != nil {
		s.byText.most = n
	}
}

// Add takes a row, which is known by a number from then on.
func (s *Sorter) Add(r *Row, position int64) {
	k := s.key(r)
	k.position = position
	if s.byNumber != nil && k.cell.kind == word {
		s.byNumber = nil
	}
	if s.byNumber != nil {
		s.byNumber.add(k)
	}
	if s.byText != nil {
		k.cell.text = k.cell.String()
		s.byText.add(k)
	}
}

// Sorted returns the numbers of the rows in their order. Nothing is added after it.
func (s *Sorter) Sorted() []int64 {
	by := s.byNumber
	if by == nil {
		by = s.byText
	}
	by.sort()
	positions := make([]int64, len(by.keys))
	for i, k := range by.keys {
		positions[i] = k.position
	}
	return positions
}

// ordered is keys in an order, or the first of them.
type ordered struct {
	text       bool // by text, not by number
	descending bool
	most       int // 0: all are kept
	keys       []sortKey
	added      int64
	bounded    bool // what is not before the last of keys[:most] is not needed
	last       sortKey
}

func (o *ordered) add(k sortKey) {
	k.order = o.added
	o.added++
	if o.bounded && o.compare(&k, &o.last) >= 0 { // of equals those that came first stay
		return
	}
	o.keys = append(o.keys, k)
	if o.most > 0 && len(o.keys) >= 2*o.most {
		o.sort()
		o.bounded, o.last = true, o.keys[o.most-1]
	}
}

func (o *ordered) sort() {
	slices.SortFunc(o.keys, func(a, b sortKey) int { return cmp.Or(o.compare(&a, &b), cmp.Compare(a.order, b.order)) })
	if o.most > 0 && len(o.keys) > o.most {
		o.keys = o.keys[:o.most]
	}
}

func (o *ordered) compare(a, b *sortKey) int {
	order := cmp.Compare(a.place, b.place)
	if order != 0 || a.cell.kind == absent || a.cell.kind == noNumber {
		return order
	}
	if o.text {
		order = compareNatural(a.cell.text, b.cell.text)
	} else {
		order = compareNumbers(a.cell, b.cell)
	}
	if o.descending {
		return -order
	}
	return order
}

func sortPlace(c cell) int {
	switch c.kind {
	case absent:
		return 2
	case noNumber:
		return 1
	default:
		return 0
	}
}
