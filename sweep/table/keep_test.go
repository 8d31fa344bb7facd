package table_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"mlframework/sweep/metric"
	"mlframework/sweep/table"
)

// The first rows of an order are those of the whole order, however the rows come.
func TestSorterKeepsTheFirst(t *testing.T) {
	t.Parallel()
	values := map[string]func(i, n int) float64{
		"rising":  func(i, _ int) float64 { return float64(i) },
		"falling": func(i, n int) float64 { return float64(n - i) },
		"equal":   func(int, int) float64 { return 1 },
		"few":     func(int, int) float64 { return float64(rand.IntN(3)) },
		"any":     func(int, int) float64 { return rand.NormFloat64() },
	}
	for name, value := range values {
		for range 200 {
			n, keep := rand.IntN(200), 1+rand.IntN(20)
			by := []string{"loss", "-loss"}[rand.IntN(2)]
			s := table.Schema{Metrics: []string{"loss"}}
			whole, err := table.NewSorter(s, by)
			if err != nil {
				t.Fatal(err)
			}
			part, _ := table.NewSorter(s, by)
			part.Keep(keep)
			for i := range n {
				r := table.Row{Index: int64(i)}
				if rand.IntN(10) > 0 {
					r.Metrics = metric.Final{{Name: "loss", Value: value(i, n)}}
				}
				whole.Add(&r, r.Index)
				part.Add(&r, r.Index)
			}
			all := whole.Sorted()
			if got, want := part.Sorted(), all[:min(keep, n)]; !slices.Equal(got, want) {
				t.Fatalf("%s by %s: the first %d of %d are %v, want %v", name, by, keep, n, got,
					want)
			}
		}
	}
}
