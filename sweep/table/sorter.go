package table

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"mlframework/sweep/expr"
	"mlframework/sweep/human"
	"mlframework/sweep/metric"
)

// Sorter puts rows in order and keeps only what decides it: the key of each row and a number that
// its owner knows it by, which grows from each row to the next and is less than 2^60. Rows that are
// equal stay in the order in which they were added. Not for concurrent use.
type Sorter struct {
	fields Fields
	metric string // that it looks at, if fields has metrics
	key    func(*Row) (place int, value cell)

	// Whether a column holds numbers only is known after its last row: until a text comes both
	// orders are kept.
	byNumber, byText *sortedKeys
}

// sortKey is compared by place, then by number or text, then by position.
type sortKey struct {
	num  float64
	text *string // in an order by text, and of a number that num does not hold exactly
	at   uint64  // from the highest bit: two for the place, two for the kind, and the position
}

const positionBits = 60

func newSortKey(place int, value cell, position int64) sortKey {
	return sortKey{num: value.Number,
		at: uint64(place)<<62 | uint64(value.Kind)<<positionBits | uint64(position)}
}

// value returns the number of a key that has its text.
func (k *sortKey) value() cell {
	return cell{Kind: number, Text: *k.text, Number: k.num}
}

func (k *sortKey) place() uint64   { return k.at >> 62 }
func (k *sortKey) kind() expr.Kind { return expr.Kind(k.at >> positionBits & 3) }
func (k *sortKey) position() int64 { return int64(k.at & (1<<positionBits - 1)) }

// NewSorter returns a sorter by a column, "-COLUMN" from the greatest to the least. A column in
// which everything is a number is sorted by number, any other by text in which runs of digits count
// as numbers (gpu2 before gpu10). Either way what is not a number and then what is absent come
// last. Equal rows keep their order. An unknown column is an error that names the nearest and all
// known ones.
func NewSorter(s Schema, by string) (*Sorter, error) {
	name, descending := strings.CutPrefix(by, "-")
	c, err := s.lookup(name)
	if err != nil {
		return nil, err
	}
	get := c.get
	if c.key != nil {
		get = c.key
	}
	sorter := &Sorter{fields: c.needs, metric: c.metric,
		byNumber: &sortedKeys{descending: descending}}
	if !c.numeric {
		sorter.byText = &sortedKeys{descending: descending, text: true}
	}
	sorter.key = func(r *Row) (int, cell) {
		value := get(r)
		return sortPlace(value), value
	}
	return sorter, nil
}

// NewSorterOfTables sorts the rows of several tables by a column, as [NewSorter] says. Before the
// rows of each table it is told of the table, with [Sorter.Continue].
func NewSorterOfTables(by string) *Sorter {
	descending := strings.HasPrefix(by, "-")
	return &Sorter{byNumber: &sortedKeys{descending: descending},
		byText: &sortedKeys{descending: descending, text: true}}
}

// Continue makes s, which NewSorterOfTables returned, take the rows of another table from now on:
// of the one that a sorter by the same column is of. The column may hold numbers in one table and
// texts in another.
func (s *Sorter) Continue(of *Sorter) {
	s.fields, s.metric, s.key = of.fields, of.metric, of.key
}

// UnknownColumn says that there is no column to sort by.
type UnknownColumn struct{ Name, Text string }

func (e *UnknownColumn) Error() string { return e.Text }

// NewRanking puts the best first, as [Rank] says.
func NewRanking(o metric.Objective) *Sorter {
	return &Sorter{fields: FieldState | FieldMetrics, metric: o.Metric, byNumber: &sortedKeys{},
		key: func(r *Row) (int, cell) {
			place, value := rankOf(o, r)
			if o.Maximize {
				value = -value
			}
			return place, cell{Kind: number, Number: value}
		}}
}

// Fields returns what the order looks at beside the index.
func (s *Sorter) Fields() Fields { return s.fields &^ fieldIndex }

// Metrics returns the names of the metrics that the order looks at.
func (s *Sorter) Metrics() []string {
	if !s.fields.Has(FieldMetrics) {
		return nil
	}
	return []string{s.metric}
}

// Keep forgets all but the first n rows; 0 keeps all. It is called before the first row is added.
func (s *Sorter) Keep(n int) {
	s.byNumber.max = n
	if s.byText != nil {
		s.byText.max = n
	}
}

// Expect makes room for so many rows. It is called before the first row is added.
func (s *Sorter) Expect(n int) {
	for _, o := range []*sortedKeys{s.byNumber, s.byText} {
		if o != nil && o.max == 0 {
			o.keys = slices.Grow(o.keys, n)
		}
	}
}

// Add takes a row, which is known by a number from then on.
func (s *Sorter) Add(r *Row, position int64) {
	place, value := s.key(r)
	if s.byNumber != nil && value.Kind == word {
		s.byNumber = nil
	}
	if s.byNumber != nil {
		s.byNumber.add(place, value, position)
	}
	if s.byText != nil {
		value.Text = value.String()
		s.byText.add(place, value, position)
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
		positions[i] = k.position()
	}
	return positions
}

// sortedKeys is keys in an order, or the first of them.
type sortedKeys struct {
	text       bool // by text, not by number
	descending bool
	max        int // 0: all are kept
	keys       []sortKey
	bounded    bool // what is not before the last of keys[:most] is not needed
	last       sortKey
}

func (o *sortedKeys) add(place int, value cell, position int64) {
	k := newSortKey(place, value, position)
	if o.text || math.Abs(value.Number) >= expr.Exact && value.Text != "" {
		text := value.Text
		k.text = &text
	}
	if o.bounded && o.compare(&k, &o.last) >= 0 { // of equals those that came first stay
		return
	}
	o.keys = append(o.keys, k)
	if o.max > 0 && len(o.keys) >= 4*o.max {
		o.sort()
		o.bounded, o.last = true, o.keys[o.max-1]
	}
}

// sort puts the keys in order and forgets all but the first.
func (o *sortedKeys) sort() {
	slices.SortFunc(o.keys, func(a, b sortKey) int {
		return cmp.Or(o.compare(&a, &b), cmp.Compare(a.position(), b.position()))
	})
	if o.max > 0 {
		o.keys = o.keys[:min(o.max, len(o.keys))]
	}
}

func (o *sortedKeys) compare(a, b *sortKey) int {
	order := cmp.Compare(a.place(), b.place())
	if kind := a.kind(); order != 0 || kind == absent || kind == noNumber {
		return order
	}
	switch {
	case o.text:
		order = human.CompareNatural(*a.text, *b.text)
	case a.text == nil || b.text == nil:
		order = cmp.Compare(a.num, b.num)
	default:
		order = expr.CompareNumbers(a.value(), b.value())
	}
	if o.descending {
		return -order
	}
	return order
}

func sortPlace(c cell) int {
	switch c.Kind {
	case absent:
		return 2
	case noNumber:
		return 1
	default:
		return 0
	}
}
