package result

import (
	"cmp"
	"strings"
)

// Sort sorts rows in place by a column, "-COLUMN" from the greatest to the least. A column in which everything is a number
// is sorted by number, any other by text in which runs of digits count as numbers (gpu2 before gpu10). Either way what is
// not a number and then what is absent come last. Equal rows keep their order. An unknown column is an error that names
// the nearest and all known ones.
func Sort(rows []Row, s Schema, by string) error {
	sorter, err := NewSorter(s, by)
	if err != nil {
		return err
	}
	for i := range rows {
		sorter.Add(&rows[i], int64(i))
	}
	sorted := make([]Row, len(rows))
	for i, at := range sorter.Sorted() {
		sorted[i] = rows[at]
	}
	copy(rows, sorted)
	return nil
}

// digits returns how many digits s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// CompareNatural compares texts; where both have digits, the number they make decides.
func CompareNatural(a, b string) int { return compareNatural(a, b) }

// compareNatural compares texts; where both have digits, the number they make decides.
func compareNatural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		i, j := digits(x), digits(y)
		if i == 0 || j == 0 {
			if x[0] != y[0] {
				return cmp.Compare(x[0], y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		p, q := strings.TrimLeft(x[:i], "0"), strings.TrimLeft(y[:j], "0")
		if order := cmp.Or(cmp.Compare(len(p), len(q)), cmp.Compare(p, q)); order != 0 {
			return order
		}
		x, y = x[i:], y[j:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}
