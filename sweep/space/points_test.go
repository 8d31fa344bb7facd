package space_test

import (
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/space"
)

const mixed = `
lr: [0.1, 0.01]
augment: [true, false]
epoch: !interval [5, 20, 5]
name: x
unit: [1, 2]
`

func TestZeroSpaceHasOnePoint(t *testing.T) {
	t.Parallel()
	var s space.Space
	if s.Len() != 1 || len(s.Point(0)) != 0 || len(s.Parameters()) != 0 {
		t.Errorf("got %d points, the first %v", s.Len(), s.Point(0))
	}
	if argv := s.Flags(space.Style{}).Append([]string{"true"}, 0); len(argv) != 1 {
		t.Errorf("its command line is %q", argv)
	}
}

// pointsFrom yields the points of a space from one on.
func pointsFrom(s *space.Space, first int64) iter.Seq2[int64, space.Point] {
	return func(yield func(int64, space.Point) bool) {
		for i := first; i < s.Len() && yield(i, s.Point(i)); i++ {
		}
	}
}

// Points come in file order, and the last parameter varies fastest.
func TestOrder(t *testing.T) {
	t.Parallel()
	var got []string
	s := read(t, "b: [1, 2]\na: !interval [5, 7]\nc: [x, y]\n")
	for _, p := range pointsFrom(s, 0) {
		got = append(got, p[0].Name+p[0].Value+p[1].Name+p[1].Value+p[2].Name+p[2].Value)
	}
	want := "b1a5cx b1a5cy b1a6cx b1a6cy b2a5cx b2a5cy b2a6cx b2a6cy"
	if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

// checkArguments compares the flags of a point with its assignments.
func checkArguments(t *testing.T, s *space.Space, i int64) {
	t.Helper()
	var want []string
	for _, a := range s.Point(i) {
		if a.Kind != space.Null {
			want = append(want, "--"+a.Name+"="+a.Value)
		}
	}
	got := s.Flags(space.Style{Switch: space.SwitchValue}).Append(nil, i)
	if !slices.Equal(got, want) {
		t.Fatalf("point %d has the flags %q, want %q", i, got, want)
	}
}

func TestArgumentsAreThoseOfThePoint(t *testing.T) {
	t.Parallel()
	s := read(t, mixed)
	for i := range s.Len() {
		checkArguments(t, s, i)
	}
}

func TestLargestSpace(t *testing.T) {
	t.Parallel()
	s := read(t, "a: !interval [0, 9223372036854775807]\nb: 1\n")
	if s.Len() != math.MaxInt64 {
		t.Fatalf("Len is %d", s.Len())
	}
	if got := s.Point(math.MaxInt64 - 1)[0].Value; got != "9223372036854775806" {
		t.Errorf("the last value is %s", got)
	}
}

func TestPointOutsidePanics(t *testing.T) {
	t.Parallel()
	s := read(t, mixed)
	for name, f := range map[string]func(){
		"Point":       func() { s.Point(s.Len()) },
		"Point below": func() { s.Point(-1) },
		"Append":      func() { s.Flags(space.Style{}).Append(nil, s.Len()) },
		"Value":       func() { s.Parameters()[0].Value(2) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// A long list under many aliases is read once: a small file must not take much memory.
func TestAliasesShareTheirList(t *testing.T) {
	t.Parallel()
	var file strings.Builder
	file.WriteString("a0: &v [" + strings.Repeat("x, ", 10_000) + "y]\n")
	for i := range 5_000 {
		file.WriteString("b" + strings.Repeat("c", i%7) + strings.Repeat("d", i/7%7) +
			string(rune(0x4e00+i)) + ": *v\n")
	}
	_, _, err := space.Read("p.yml", []byte(file.String()))
	if err == nil || !strings.Contains(err.Error(), "more than 9223372036854775807") {
		t.Errorf("got %.200v", err)
	}
}
