package grid_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mlframework/sweep/space/grid"
)

// rule rejects combinations of some axes.
type rule struct {
	axes    []int
	rejects func(digits []int64) bool
}

func build(t *testing.T, counts []int64, rules ...rule) *grid.Grid {
	t.Helper()
	var tied [][]int
	for _, r := range rules {
		tied = append(tied, r.axes)
	}
	b, err := grid.New(counts, tied)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		if err := b.Remove(r.axes, func(digits []int64) (bool, error) {
			return r.rejects(digits),
				nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	left := b.Left()
	g, err := b.Grid()
	if err != nil {
		t.Fatal(err)
	}
	if left.Int64() != g.Len() {
		t.Errorf("%d are left, the grid has %d", left, g.Len())
	}
	return g
}

// naive lists what is left, one combination after the other.
func naive(counts []int64, rules []rule) (all [][]int64) {
	digits := make([]int64, len(counts))
	for {
		if !slices.ContainsFunc(rules, func(r rule) bool {
			var of []int64
			for _, a := range r.axes {
				of = append(of, digits[a])
			}
			return r.rejects(of)
		}) {
			all = append(all, slices.Clone(digits))
		}
		j := len(digits) - 1
		for ; j >= 0; j-- {
			if digits[j]++; digits[j] < counts[j] {
				break
			}
			digits[j] = 0
		}
		if j < 0 {
			return all
		}
	}
}

// check compares a grid with the list of its combinations, in both directions.
func check(t *testing.T, g *grid.Grid, want [][]int64, counts []int64) {
	t.Helper()
	if g.Len() != int64(len(want)) {
		t.Fatalf("%d combinations, want %d", g.Len(), len(want))
	}
	if len(want) == 0 {
		return
	}
	for i, digits := range want {
		got := make([]int64, len(counts))
		if g.Digits(int64(i), got); !slices.Equal(got, digits) {
			t.Fatalf("combination %d is %v, want %v", i, got, digits)
		}
		if n, ok := g.Number(digits); !ok || n != int64(i) {
			t.Fatalf("the number of %v is %d, %v, want %d", digits, n, ok, i)
		}
	}
	here := map[string]bool{}
	for _, digits := range want {
		here[fmt.Sprint(digits)] = true
	}
	for _, digits := range naive(counts, nil) {
		if _, ok := g.Number(digits); ok != here[fmt.Sprint(digits)] {
			t.Fatalf("%v has a number: %v", digits, ok)
		}
	}
}

// randomRules are up to four rules, each of up to three axes.
func randomRules(random *rand.Rand, counts []int64) (rules []rule) {
	for range random.IntN(5) {
		axes := random.Perm(len(counts))[:1+random.IntN(min(3, len(counts)))]
		slices.Sort(axes)
		seed, share := random.Uint64(), random.Uint64N(100)
		rules = append(rules, rule{axes, func(digits []int64) bool {
			h := seed
			for _, d := range digits {
				h = (h ^ uint64(d)) * 0x9e3779b97f4a7c15
				h ^= h >> 29
			}
			return h%100 < share
		}})
	}
	return rules
}

// Random grids of up to six axes with up to four random rules are what a naive expansion lists.
func TestGridIsTheFilteredExpansion(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 600 {
		counts := make([]int64, 1+random.IntN(6))
		for i := range counts {
			counts[i] = 1 + random.Int64N(4)
		}
		rules := randomRules(random, counts)
		check(t, build(t, counts, rules...), naive(counts, rules), counts)
	}
}

// Bitmaps of many words with long stretches of nothing in them.
func TestSparseBlock(t *testing.T) {
	t.Parallel()
	counts := []int64{3, 50, 7, 40, 2}
	rules := []rule{
		{[]int{1, 3}, func(d []int64) bool { return d[0]%17 != 3 || d[1] != 39 }},
		{[]int{0, 3, 4}, func(d []int64) bool { return d[0] == 1 || d[2] == 0 }},
	}
	check(t, build(t, counts, rules...), naive(counts, rules), counts)
}

func TestNothingLeft(t *testing.T) {
	t.Parallel()
	g := build(t, []int64{2, 3}, rule{[]int{0}, func([]int64) bool { return true }})
	if g.Len() != 0 {
		t.Errorf("%d are left", g.Len())
	}
	if n, ok := g.Number([]int64{0, 0}); ok {
		t.Errorf("a removed one has the number %d", n)
	}
}

func TestWithoutAxes(t *testing.T) {
	t.Parallel()
	for _, g := range []*grid.Grid{{}, build(t, nil)} {
		if n, ok := g.Number(nil); g.Len() != 1 || n != 0 || !ok {
			t.Errorf("%d combinations, that of no digits is %d, %v", g.Len(), n, ok)
		}
		g.Digits(0, nil)
	}
}

// A free axis takes no memory beside a block, up to the last number.
func TestLargestGrid(t *testing.T) {
	t.Parallel()
	g := build(t, []int64{2, math.MaxInt64 / 3, 2}, rule{[]int{0, 2},
		func(d []int64) bool { return d[0] == 1 && d[1] == 1 }})
	if g.Len() != math.MaxInt64/3*3 {
		t.Fatalf("%d combinations", g.Len())
	}
	digits := make([]int64, 3)
	g.Digits(g.Len()-1, digits)
	if want := []int64{1, math.MaxInt64/3 - 1, 0}; !slices.Equal(digits, want) {
		t.Errorf("the last is %v, want %v", digits, want)
	}
	if n, ok := g.Number(digits); !ok || n != g.Len()-1 {
		t.Errorf("its number is %d, %v", n, ok)
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	_, err := grid.New([]int64{1000, 5, 10_001}, [][]int{{0, 2}})
	if many, ok := errors.AsType[*grid.TooMany](err); !ok || many.Codes.Int64() != 10_001_000 ||
		!slices.Equal(many.Axes, []int{0, 2}) {
		t.Errorf("tied axes of 10,001,000 combinations: %v", err)
	}
	b, err := grid.New([]int64{1 << 40, 1 << 22, 2, 2}, [][]int{{2}})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Remove([]int{2}, func(d []int64) (bool, error) {
		return d[0] == 1,
			nil
	}); err != nil {
		t.Fatal(err)
	}
	_, err = b.Grid()
	if over, ok := errors.AsType[*grid.Overflow](err); !ok || over.Axis != 3 {
		t.Errorf("2^63 combinations: %v", err)
	}
}

// A rule is asked once for what it looks at, only where something is left, and its error ends
// everything.
func TestRulesAreAskedOnce(t *testing.T) {
	t.Parallel()
	b, err := grid.New([]int64{3, 4, 5}, [][]int{{0, 1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	first := func(d []int64) (bool, error) { asked++; return d[0] != 1, nil }
	if err := b.Remove([]int{1}, first); err != nil || asked != 4 {
		t.Errorf("a rule of one axis of 4 digits was asked %d times, %v", asked, err)
	}
	asked = 0
	second := func(d []int64) (bool, error) {
		asked++
		if d[1] != 1 {
			return false, errors.New("asked of what is gone")
		}
		return false, nil
	}
	if err := b.Remove([]int{0, 1}, second); err != nil || asked != 3 {
		t.Errorf("a second rule was asked %d times, want 3: %v", asked, err)
	}
	wrong := errors.New("division by zero")
	if err := b.Remove([]int{2}, func([]int64) (bool, error) {
		return false,
			wrong
	}); err != wrong {
		t.Errorf("got %v", err)
	}
}

func BenchmarkDigits(b *testing.B) {
	g := benchmarkGrid(b)
	digits := make([]int64, 6)
	for i := range int64(b.N) {
		g.Digits(i*777_777_777%g.Len(), digits)
	}
}

func benchmarkGrid(b *testing.B) *grid.Grid {
	builder, err := grid.New([]int64{100, 10, 100, 1000, 10, 10}, [][]int{{0, 2, 4}, {3, 5}})
	if err != nil {
		b.Fatal(err)
	}
	_ = builder.Remove([]int{0, 2, 4}, func(d []int64) (bool, error) {
		return d[0]*d[1] > 5000+d[2],
			nil
	})
	_ = builder.Remove([]int{3, 5}, func(d []int64) (bool, error) { return d[0]%10 == d[1], nil })
	g, err := builder.Grid()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	return g
}
