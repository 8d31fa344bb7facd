package space_test

import (
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
	for i, argv := range s.Flags(space.Style{}).All([]string{"true"}, 0, math.MaxInt64) {
		if i != 0 || !slices.Equal(argv, []string{"true"}) {
			t.Errorf("point %d: %q", i, argv)
		}
	}
}

// Points come in file order, and the last parameter varies fastest.
func TestOrder(t *testing.T) {
	t.Parallel()
	var got []string
	s := read(t, "b: [1, 2]\na: !interval [5, 7]\nc: [x, y]\n")
	for _, p := range s.Points(0, s.Len()) {
		got = append(got, p[0].Name+p[0].Value+p[1].Name+p[1].Value+p[2].Name+p[2].Value)
	}
	want := "b1a5cx b1a5cy b1a6cx b1a6cy b2a5cx b2a5cy b2a6cx b2a6cy"
	if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

func TestIterationEqualsPoint(t *testing.T) {
	t.Parallel()
	s := read(t, mixed)
	checkIteration(t, s, 0, s.Len(), s.Len())
	checkIteration(t, s, -5, math.MaxInt64, s.Len())
	checkIteration(t, s, 7, 17, 10)
	checkIteration(t, s, 17, 17, 0)
	checkIteration(t, s, 100, 200, 0)
}

// checkIteration compares the iterators with the points and flags made one at a time, and counts.
func checkIteration(t *testing.T, s *space.Space, from, to, count int64) {
	t.Helper()
	next, n := max(from, 0), int64(0)
	for i, p := range s.Points(from, to) {
		if diff := cmp.Diff(s.Point(i), p); diff != "" || i != next {
			t.Fatalf("point %d after %d: Point(i) -, iteration +\n%s", i, next-1, diff)
		}
		next, n = next+1, n+1
	}
	if n != count {
		t.Errorf("%d points from %d to %d, want %d", n, from, to, count)
	}
	for _, style := range []space.Style{{}, {Space: true, SwitchValue: true}} {
		flags := s.Flags(style)
		n := int64(0)
		for i, argv := range flags.All([]string{"train", "-v"}, from, to) {
			if want := flags.Append([]string{"train", "-v"}, i); !slices.Equal(argv, want) {
				t.Fatalf("%+v: point %d: iteration %q, Append %q", style, i, argv, want)
			}
			n++
		}
		if n != count {
			t.Errorf("%+v: %d command lines from %d to %d, want %d", style, n, from, to, count)
		}
	}
}

func TestIterationStopsWhenAsked(t *testing.T) {
	t.Parallel()
	s := read(t, mixed)
	n := 0
	for range s.Points(0, s.Len()) {
		n++
		break
	}
	for range s.Flags(space.Style{}).All(nil, 0, s.Len()) {
		n++
		break
	}
	if n != 2 {
		t.Errorf("%d points seen, want 2", n)
	}
}

// A command line that is appended to does not spoil the next, and its strings outlive it.
func TestCommandLinesAreSafeToExtend(t *testing.T) {
	t.Parallel()
	s := read(t, "a: [true, false]\nb: !interval [0, 3000]\n")
	var kept []string
	for i, argv := range s.Flags(space.Style{}).All([]string{"x"}, 2999, 3002) {
		_ = append(argv, "spoiled", "spoiled")
		kept = append(kept, argv[len(argv)-1])
		if want := s.Flags(space.Style{}).Append([]string{"x"}, i); !slices.Equal(argv, want) {
			t.Errorf("got %q, want %q", argv, want)
		}
	}
	if diff := cmp.Diff([]string{"--b=2999", "--b=0", "--b=1"}, kept); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

func TestLargestSpace(t *testing.T) {
	t.Parallel()
	s := read(t, "a: !interval [0, 9223372036854775807]\nb: 1\n")
	if s.Len() != math.MaxInt64 {
		t.Fatalf("Len is %d", s.Len())
	}
	checkIteration(t, s, math.MaxInt64-3, math.MaxInt64, 3)
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
