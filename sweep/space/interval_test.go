package space_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/space"
)

// Values of intervals are exact decimals with the decimals of the longest operand.
func TestIntervalsAreExact(t *testing.T) {
	t.Parallel()
	for operands, want := range map[string]string{
		"0, 0.8, 0.2":       "0.0 0.2 0.4 0.6",
		"0.1, 0.5, 0.1":     "0.1 0.2 0.3 0.4",
		"0.3, 0.0, -0.1":    "0.3 0.2 0.1",
		"-0.2, 0.2, 0.1":    "-0.2 -0.1 0.0 0.1",
		"0, 0.3, 0.10":      "0.00 0.10 0.20",
		"1e-3, 4e-3, 1e-3":  "0.001 0.002 0.003",
		"0, 3e2, 1E+2":      "0 100 200",
		"1.5e1, 17":         "15 16",
		"1.0, 3":            "1.0 2.0",
		"+1, 3.":            "1 2",
		".5, 1, .25":        "0.50 0.75",
		"0x10, 0x12":        "16 17",
		"0o17, 0b10001":     "15 16",
		"1_000, 1_002":      "1000 1001",
		"01, 03":            "1 2",
		"5, 20, 6":          "5 11 17",
		"5, 6, 100":         "5",
		"-0.05, 0.05, 0.05": "-0.05 0.00",
		"9223372036854775806, " +
			"9223372036854775809": "9223372036854775806 9223372036854775807 " +
			"9223372036854775808",
		"-9223372036854775808, " +
			"-9223372036854775806": "-9223372036854775808 -9223372036854775807",
		"-9e18, 9e18, 9e18":   "-9000000000000000000 0",
		"-1e20, 1e20, 1e20":   "-100000000000000000000 0",
		"1e-30, 3e-30, 1e-30": "0.000000000000000000000000000001 0.000000000000000000000000000002",
		"10000000000.0000000001, 10000000000.00000000021, " +
			"0.0000000001": "10000000000.00000000010 10000000000.00000000020",
	} {
		t.Run(operands, func(t *testing.T) {
			t.Parallel()
			for _, file := range []string{"a: !interval [" + operands + "]",
				"a: \"[" + operands + ")\"", "a: [" + operands + ")"} {
				var got []string
				s := read(t, file)
				for _, p := range pointsFrom(s, 0) {
					got = append(got, p[0].Value)
				}
				if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
					t.Errorf("%q: want -, got +\n%s", file, diff)
				}
			}
		})
	}
}

func TestParametersDescribeWithoutExpanding(t *testing.T) {
	t.Parallel()
	s := read(t, strings.Join([]string{
		"gpu: -1",
		"name: ''",
		"augment: [true, 'a, b']",
		"epoch: !interval [5,20,5]",
		"seed: !interval [0, 1000000000000]",
		"layer: [1, 2, 3, 4, 5, 6, 7, 8, 9]",
	}, "\n"))
	want := []string{
		"gpu: -1",
		`name: ""`,
		`augment: true (switch), "a, b"`,
		"epoch: 5, 10, 15",
		"seed: 0, 1, 2, …, 999999999999 (1000000000000 values)",
		"layer: 1, 2, 3, …, 9 (9 values)",
	}
	var got []string
	var kinds []space.Kind
	for _, p := range s.Parameters() {
		got, kinds = append(got, p.String()), append(kinds, p.Kind())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
	wantKinds := []space.Kind{space.Single, space.Single, space.List, space.Interval,
		space.Interval, space.List}
	if diff := cmp.Diff(wantKinds, kinds); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
	epoch := s.Parameters()[3]
	if epoch.Name() != "epoch" || epoch.Len() != 3 ||
		epoch.Value(2).Value != "15" {
		t.Errorf("got %s, %d values, last %v", epoch.Name(), epoch.Len(), epoch.Value(2))
	}
	if got, want := s.Len(), int64(2*3*1_000_000_000_000*9); got != want {
		t.Errorf("Len is %d, want %d", got, want)
	}
}
