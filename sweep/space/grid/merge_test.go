package grid_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"mlframework/sweep/space/grid"
)

// A merged grid is what the combinations of random grids are when digits of one class count as one.
func TestMergeIsTheMergedExpansion(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 5))
	for range 600 {
		counts := make([]int64, 1+random.IntN(6))
		for i := range counts {
			counts[i] = 1 + random.Int64N(4)
		}
		rules := randomRules(random, counts)
		merged, classes := slices.Clone(counts), map[int]grid.Classes{}
		for i, n := range counts {
			switch random.IntN(3) {
			case 0:
				classes[i] = grid.Classes{Count: 1}
			case 1:
				of := grid.Classes{Count: 1 + random.Int64N(n)}
				for digit := range n { // each class has a digit
					of.Of = append(of.Of, min(digit, random.Int64N(of.Count)))
					if digit < of.Count {
						of.Of[digit] = digit
					}
				}
				classes[i] = of
			default:
				continue
			}
			merged[i] = classes[i].Count
		}
		seen, want := map[string]bool{}, [][]int64(nil)
		for _, digits := range naive(counts, rules) {
			for i, c := range classes {
				if c.Of == nil {
					digits[i] = 0
				} else {
					digits[i] = c.Of[digits[i]]
				}
			}
			if key := fmt.Sprint(digits); !seen[key] {
				seen[key], want = true, append(want, digits)
			}
		}
		slices.SortFunc(want, slices.Compare)
		g := build(t, counts, rules...)
		check(t, g.Merge(classes), want, merged)
		check(t, g, naive(counts, rules), counts) // as it was
	}
}

// An axis of many digits is merged without a look at them.
func TestMergeOfLongAxis(t *testing.T) {
	t.Parallel()
	g := build(t, []int64{5, 1_000_000_000_000, 3}).Merge(map[int]grid.Classes{1: {Count: 1}})
	if g.Len() != 15 {
		t.Errorf("%d combinations", g.Len())
	}
}
