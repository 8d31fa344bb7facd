package space_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/space"
)

// A parameter has the values that only included points have, behind those of its list.
func TestIncludedValues(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, want string }{
		"one value": {"lr: 0.1\nseed: [1, 2]\n---\ninclude: [{lr: 0.5, seed: 1}]\n",
			"lr: 0.1, 0.5\nseed: 1, 2"},
		"interval": {"a: [5, 8)\n---\ninclude: [{a: 9}, {a: 6}]\n",
			"a: 5, 6, 7, 9"},
		"absent in an included point": {"- {a: 1, b: 2}\n- {a: 2, b: 3}\n---\ninclude: [{a: 5}]\n",
			"a: 1, 2, 5\nb?: 2, 3"},
		"in all included points": {
			"- {a: 1, b: 2}\n- {a: 2, b: 3}\n---\ninclude: [{a: 5, b: 6}]\n",
			"a: 1, 2, 5\nb: 2, 3, 6"},
	} {
		var lines []string
		s := read(t, c.file)
		for _, p := range s.Parameters() {
			line := p.String()
			if p.Conditional() {
				line = strings.Replace(line, ":", "?:", 1)
			}
			lines = append(lines, line)
			of, _ := s.Column(p.Name())
			if of.Len() != p.Len() || p.Kind() == space.Single && p.Len() != 1 {
				t.Errorf("%s: %s has %d values, its column %d; %s", name, p.Name(), p.Len(),
					of.Len(), p.Kind())
			}
			for n := range of.Len() {
				if p.Value(n) != of.Value(n) {
					t.Errorf("%s: value %d is %v, that of the column %v", name, n, p.Value(n),
						of.Value(n))
				}
			}
		}
		if d := cmp.Diff(c.want, strings.Join(lines, "\n")); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// Included points beside as many combinations as can be numbered are too many.
func TestIncludedOverflow(t *testing.T) {
	t.Parallel()
	const file = "a: !interval [0, 9223372036854775807]\n---\ninclude: [{a: %d}]\n"
	if n := read(t, fmt.Sprintf(file, 5)).Len(); n != 9223372036854775807 {
		t.Errorf("the space has %d points", n)
	}
	_, _, err := space.Read("p.yml", fmt.Appendf(nil, file, -5))
	want := "p.yml:1:1: a: with this parameter there are more than 9223372036854775807 " +
		"combinations; use fewer values, or split the sweep"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Notes are said once, however many points they concern.
func TestIncludeNotes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file string
		want int
	}{
		"a default of several points": {
			"a: [1, 2]\nb: [x, z]\n---\ndefaults: {b: yes}\ninclude: [{a: 5}, {a: 6}, {a: 7}]\n",
			1},
		"a default of a list and of included points": {
			"- {a: 1}\n---\ndefaults: {b: yes}\ninclude: [{a: 5}, {a: 6}, {a: 7}]\n", 1},
		"all combinations":    {"a: [1, 2, 3]\n---\nsample: 3\n", 0},
		"more than there are": {"a: [1, 2, 3]\n---\nsample: 4\n", 1},
	} {
		_, notes, err := space.Read("p.yml", []byte(c.file))
		if err != nil || len(notes) != c.want {
			t.Errorf("%s: got %v, %v, want %d notes", name, notes, err, c.want)
		}
	}
}
