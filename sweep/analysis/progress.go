package analysis

import (
	"cmp"
	"slices"
)

// Result is a value of a metric and when its task ended.
type Result struct {
	Index int64
	At    float64 // seconds, since any moment
	Value float64 // finite
}

// Progress puts results into the order in which they came. Best are those that were the best when
// they came, and some all of them; of more than most, they are thinned as by [Thin].
func Progress(all []Result, maximize bool, most int) (best, some []Result) {
	slices.SortFunc(all, func(a, b Result) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Index, b.Index))
	})
	for _, r := range all {
		n := len(best)
		if n == 0 || r.Value != best[n-1].Value && (r.Value > best[n-1].Value) == maximize {
			best = append(best, r)
		}
	}
	return Thin(best, most), Thin(all, most)
}

// Thin returns at most so many of a list, at even distances, and always the last.
func Thin[T any](all []T, most int) []T {
	every := (len(all) + most - 1) / most
	if every < 2 {
		return all
	}
	few := make([]T, 0, most)
	for i := (len(all) - 1) % every; i < len(all); i += every {
		few = append(few, all[i])
	}
	return few
}
