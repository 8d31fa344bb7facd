package space_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/space"
)

var update = flag.Bool("update", false, "write the golden files of testdata anew")

// Each parameters file of testdata/files has its points, notes and rules, or its faults, beside it.
func TestFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/files/*.yml")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yml"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, golden := outcome(t, data), strings.TrimSuffix(file, ".yml")+".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s: want -, got +\n%s", data, diff)
			}
		})
	}
}

// mostShown is how many points of a file stand in its golden file: others are so many from both
// ends.
const mostShown = 40

// outcome returns what comes of a file, as text.
func outcome(t *testing.T, data []byte) string {
	t.Helper()
	var b strings.Builder
	s, notes, err := space.Read("p.yml", data)
	for _, n := range notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	if err != nil {
		fmt.Fprintf(&b, "%v\n", err)
		return b.String()
	}
	for _, rule := range s.Rules() {
		b.WriteString(rule.Text)
		if rule.Removed != nil {
			fmt.Fprintf(&b, " (removes %d)", rule.Removed)
		}
		if rule.Sampling != nil {
			fmt.Fprintf(&b, " (%s)", rule.Sampling)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%d of %d combinations\n", s.Len(), s.Combinations())
	for i := int64(0); i < s.Len(); i++ {
		if i == mostShown/2 && s.Len() > mostShown {
			b.WriteString("...\n")
			i = s.Len() - mostShown/2
		}
		fmt.Fprintf(&b, "%d %s\n", i, textOf(s.Point(i)))
	}
	checkRoundTrip(t, s)
	checkInverse(t, s)
	return b.String()
}

// checkInverse wants the index of a point to be its number.
func checkInverse(t *testing.T, s *space.Space) {
	t.Helper()
	for i := int64(0); i < s.Len(); i += max(1, s.Len()/97) {
		if n, ok := s.Index(s.Point(i)); !ok || textOf(s.Point(n)) != textOf(s.Point(i)) {
			t.Errorf("the index of point %d, %s, is %d, %v", i, textOf(s.Point(i)), n, ok)
		}
	}
}
