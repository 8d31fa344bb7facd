package table_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"mlframework/sweep/table"
)

// TestIndexRange: a filter picks no row outside of its range, which is as narrow as is plain.
func TestIndexRange(t *testing.T) {
	t.Parallel()
	const last = math.MaxInt64
	for where, want := range map[string][2]int64{
		"":                         {0, last},
		"index = 42":               {42, 42},
		"42 = index":               {42, 42},
		"index >= 5 and index < 9": {5, 9},
		"5 < index and 9 >= index": {5, 9},
		"index in [7, 3, 5]":       {3, 7},
		"index = 3 or index = 7":   {3, 7},
		"index = 3 or host = a":    {0, last},
		"index != 3":               {0, last},
		"not index = 3":            {0, last},
		"index not in [3, 5]":      {0, last},
		"index + 1 = 3":            {0, last},
		"host = a and index > 3":   {3, last},
		"index < -1":               {0, 0},
		"index > 1e30":             {last, last},
		"index = '42'":             {0, last},
		"index in [3, host]":       {0, last},
		"index = 2.5":              {2, 3},
		"index = 9007199254740993": {1<<53 - 1, 1<<53 + 2},
	} {
		f, err := table.ParseFilter(where, table.Schema{})
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		from, to := f.IndexRange()
		if got := [2]int64{from, to}; got != want {
			t.Errorf("%s: %d; want %d", where, got, want)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	ops := []string{"<", "<=", ">", ">=", "=", "!="}
	words := []string{"and", "or", "and not", "or not"}
	for range 300 {
		where := fmt.Sprintf("index %s %d", ops[random.IntN(6)], random.IntN(20))
		for range random.IntN(4) {
			where = fmt.Sprintf("(%s) %s %d %s index", where, words[random.IntN(4)],
				random.IntN(20), ops[random.IntN(6)])
		}
		f, err := table.ParseFilter(where, table.Schema{})
		if err != nil {
			t.Fatal(err)
		}
		from, to := f.IndexRange()
		for index := range int64(22) {
			if f.Match(&table.Row{Index: index}) && (index < from || index > to) {
				t.Errorf("%s picks %d; its range is %d to %d", where, index, from, to)
			}
		}
	}
}
