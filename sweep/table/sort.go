package table

// Sort sorts rows in place by a column, "-COLUMN" from the greatest to the least. A column in which
// everything is a number is sorted by number, any other by text in which runs of digits count as
// numbers (gpu2 before gpu10). Either way what is not a number and then what is absent come last.
// Equal rows keep their order. An unknown column is an error that names the nearest and all known
// ones.
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
