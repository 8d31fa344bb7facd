package table

import (
	"cmp"
	"io"
	"slices"

	"mlframework/sweep/metric"
)

// Where returns the rows that an expression picks, in their order. Its error is a [*FilterError].
func Where(rows []Row, s Schema, text string) ([]Row, error) {
	f, err := ParseFilter(text, s)
	if err != nil {
		return nil, err
	}
	var out []Row
	for i := range rows {
		if f.Match(&rows[i]) {
			out = append(out, rows[i])
		}
	}
	return out, nil
}

// Rank returns the rows best first: succeeded tasks by their objective, of which -inf is the least
// and inf the greatest, then those whose objective is not a number, then those that never printed
// it, then tasks that did not succeed. Ties, and everything without an objective, are in the order
// of index; equal ones keep their order. rows stays as it is.
func Rank(rows []Row, o metric.Objective) []Row {
	byIndex := make([]int64, len(rows))
	for i := range rows {
		byIndex[i] = int64(i)
	}
	slices.SortStableFunc(byIndex, func(a, b int64) int {
		return cmp.Compare(rows[a].Index,
			rows[b].Index)
	})
	sorter := NewRanking(o)
	for i, at := range byIndex {
		sorter.Add(&rows[at], int64(i))
	}
	out := make([]Row, len(rows))
	for i, at := range sorter.Sorted() {
		out[i] = rows[byIndex[at]]
	}
	return out
}

// WriteCSV writes a header and rows as [NewCSVWriter] says.
func WriteCSV(w io.Writer, rows []Row, s Schema) error {
	out := NewCSVWriter(w, s)
	for i := range rows {
		if err := out.Write(&rows[i]); err != nil {
			return err
		}
	}
	return out.Flush()
}

// ReadAny reads a Row with encoding/json alone.
var ReadAny = (*Row).readAny

// Sort sorts rows in place.
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
