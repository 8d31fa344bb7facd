package space_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/space"
)

// A boolean in quotes is text wherever values are compared: an expression, the values of exclude
// and of included points, and what the command line sets.
func TestBooleansInQuotesAreText(t *testing.T) {
	t.Parallel()
	const file = "a: [True, \"true\", 'True', false, 'false', x]\n"
	of := func(value string, quoted bool) string {
		if quoted {
			return "quoted " + value
		}
		return value
	}
	points := func(text string, changes ...space.Change) (all []string) {
		s, _, err := space.Read("p.yml", []byte(text), changes...)
		if err != nil {
			t.Fatalf("%s%v", text, err)
		}
		for i := range s.Len() {
			a := s.Point(i)[0]
			all = append(all, of(a.Value, a.Kind != space.Switch && a.Value != "x"))
		}
		return all
	}
	for value, want := range map[string][]string{
		"true":    {"quoted true", "quoted True", "false", "quoted false", "x"},
		"TRUE":    {"quoted true", "quoted True", "false", "quoted false", "x"},
		`"true"`:  {"True", "quoted True", "false", "quoted false", "x"},
		`'True'`:  {"True", "quoted true", "false", "quoted false", "x"},
		"false":   {"True", "quoted true", "quoted True", "quoted false", "x"},
		`"false"`: {"True", "quoted true", "quoted True", "false", "x"},
	} {
		for _, rule := range []string{"exclude: {a: " + value + "}",
			"exclude: [a == " + value + "]",
			"where: |\n  a != " + value, "where: |\n  a not in [" + value + "]"} {
			if diff := cmp.Diff(want, points(file+"---\n"+rule+"\n")); diff != "" {
				t.Errorf("%s: want -, got +\n%s", rule, diff)
			}
		}
	}
	const included = "a: [true, x]\n---\ninclude: [{a: 'true'}, {a: True}]\n"
	if diff := cmp.Diff([]string{"quoted true", "true", "x"}, points(included)); diff != "" {
		t.Errorf("included: want -, got +\n%s", diff)
	}
	set := points(included, space.Change{Set: []string{`a=true,"true"`}})
	if diff := cmp.Diff([]string{"true", "quoted true"}, set); diff != "" {
		t.Errorf("set: want -, got +\n%s", diff)
	}
}
