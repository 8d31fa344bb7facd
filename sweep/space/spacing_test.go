package space_test

import (
	"fmt"
	"strings"
	"testing"

	"mlframework/sweep/space"
)

// The values of ranges are those of exact arithmetic, rounded once.
func TestRangeValues(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"!logint [1, 1000000000000000000, 7]": "1 1000 1000000 1000000000 1000000000000 " +
			"1000000000000000 1000000000000000000",
		"!logint [1, 1" + strings.Repeat("0", 60) + ", 3]": "1 1" + strings.Repeat("0", 30) +
			" 1" + strings.Repeat("0", 60),
		"!logint [4, 9, 3]":            "4 6 9",
		"!logint [100, 1, 3]":          "100 10 1",
		"!log [1, 1.52399025, 3]":      "1 1.2345 1.52399025",
		"!log [1e-300, 1e300, 3]":      "1e-300 1 1e300",
		"!log [1e-400, 1e400, 5]":      "1e-400 1e-200 1 1e200 1e400",
		"!log [4, 6.25, 3]":            "4 5 6.25",
		"!uniform [0, 0.00000003, 3]":  "0 1.5e-8 0.00000003",
		"!uniform [1, 1.0000005, 3]":   "1 1.0000003 1.0000005",
		"!uniform [-1, 1, 3]":          "-1 0 1",
		"!uniform [-1, 0, 4]":          "-1 -0.66666667 -0.33333333 0",
		"!uniform [0, 1.99999998, 3]":  "0 0.99999999 1.99999998",
		"!uniform [0, 1.999999998, 3]": "0 1 1.999999998",
	} {
		s, _, err := space.Read("p.yml", []byte("a: "+file+"\n"))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		var got []string
		for _, p := range pointsFrom(s, 0) {
			got = append(got, p[0].Value)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s is %s, want %s", file, got, want)
		}
	}
}

// Ranges of one file make so many values; aliases share theirs.
func TestRangesOfOneFile(t *testing.T) {
	t.Parallel()
	var aliases, ranges strings.Builder
	aliases.WriteString("a: &a !log [1, 2, 5000]\nb: &b !int [1, 20000, 1]\n")
	for i := range 1000 {
		fmt.Fprintf(&aliases, "a%d: *a\nb%d: *b\n", i, i)
	}
	aliases.WriteString("---\nzip: [[a, a0]]\nsample: 1\n")
	_, _, err := space.Read("p.yml", []byte(aliases.String()))
	if err == nil || !strings.Contains(err.Error(), "combinations; use fewer values") {
		t.Errorf("aliases: %v", err)
	}
	for i := range 11 {
		fmt.Fprintf(&ranges, "a%d: !uniform [1, 2, 100000]\n", i)
	}
	want := "p.yml:11:22: a10: with this range, the ranges of the file make more than 1000000 " +
		"values; use fewer, or an alias of a range that is there twice"
	if _, _, err := space.Read("p.yml", []byte(ranges.String())); err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
