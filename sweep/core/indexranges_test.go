package core_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
)

func TestRanges(t *testing.T) {
	t.Parallel()
	var rs core.Ranges
	points := []int64{0, 1, 2, 5, 7, 8}
	for _, i := range points {
		rs.Add(i)
	}
	if diff := cmp.Diff(core.Ranges{{0, 3}, {5, 6}, {7, 9}}, rs); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if rs.Len() != int64(len(points)) {
		t.Errorf("%d points", rs.Len())
	}
	for n, index := range points {
		if got, ok := rs.Ordinal(index); rs.At(int64(n)) != index || !ok || got != int64(n) {
			t.Errorf("%d is at %d, its ordinal %d %v", index, rs.At(int64(n)), got, ok)
		}
	}
	for _, index := range []int64{-1, 3, 4, 6, 9} {
		if _, ok := rs.Ordinal(index); ok {
			t.Errorf("%d has an ordinal", index)
		}
	}
	if got := rs.At(6); got != 9 {
		t.Errorf("behind the last point comes %d", got)
	}
	all := core.Ranges(nil)
	if n, ok := all.Ordinal(7); all.At(7) != 7 || n != 7 || !ok || all.Len() != 0 {
		t.Error("no ranges are not every point")
	}
}

// Sets of indexes are compared with sets of numbers.
func TestSetsOfRanges(t *testing.T) {
	t.Parallel()
	const most = 5 // indexes
	ranges := func(set int) (rs core.Ranges) {
		for i := range int64(most) {
			if set&(1<<i) != 0 {
				rs.Add(i)
			}
		}
		return rs
	}
	for a := range 1 << most {
		for b := range 1 << most {
			x, y := ranges(a), ranges(b)
			if diff := cmp.Diff(ranges(a|b), x.Union(y)); diff != "" {
				t.Errorf("%v and %v: -want +got:\n%s", x, y, diff)
			}
			if diff := cmp.Diff(ranges(a&^b), x.Without(y)); diff != "" {
				t.Errorf("%v without %v: -want +got:\n%s", x, y, diff)
			}
		}
		for i := range int64(most) {
			if got := ranges(a).Has(i); got != (a&(1<<i) != 0) {
				t.Errorf("%v has %d: %v", ranges(a), i, got)
			}
		}
	}
}
