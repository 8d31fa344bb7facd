package core_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
	"mlframework/sweep/space"
)

// A parameter that is absent in some points is no flag there, is not given to the program, and is
// no value of its column.
func TestAbsentParameters(t *testing.T) {
	t.Parallel()
	const file = "o: [sgd, adam]\nm: [0.9, 0.99]\n---\n" +
		"when: {m: o = sgd}\ninclude: [{o: sgd, m: 0.5}]\n"
	r := core.Record{Space: spaceOf(t, file)}
	r, more, err := r.Extended(spaceOf(t, "o: adam\nm: 1\nx: 2\n"))
	if err != nil || more != 1 {
		t.Fatalf("%d more: %v", more, err)
	}
	want := []string{"0 --o=sgd --m=0.5", "1 --o=sgd --m=0.9", "2 --o=sgd --m=0.99", "3 --o=adam",
		"4 --o=adam --m=1 --x=2"}
	if diff := cmp.Diff(want, argvs(t, r, 5)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	points := r.Points()
	if diff := cmp.Diff([]space.Assignment{{Name: "o", Value: "adam"}},
		points.Given(3)); diff != "" {
		t.Errorf("given -want +got:\n%s", diff)
	}
	for name, want := range map[string]string{"m": "0.5 0.9 0.99 - 1", "x": "- - - - 2",
		"o": "sgd sgd sgd adam adam", "y": "- - - - -"} {
		d := points.Dimension(name)
		var got []string
		for index := range int64(5) {
			n := d.At(index)
			text, has := d.Value(n)
			if has != (text != "") || n < 0 || n >= d.Values {
				t.Errorf("%s of task %d: value %d of %d, %q, %v", name, index, n, d.Values, text,
					has)
			}
			if !has {
				text = "-"
			}
			got = append(got, text)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %s, want %s", name, text, want)
		}
	}
}
