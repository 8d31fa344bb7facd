package space_test

import (
	"errors"
	"regexp"
	"testing"
	"unicode/utf8"

	"mlframework/sweep/fault"
	"mlframework/sweep/space"
)

// FuzzRead: whatever a file holds, reading it ends in a space that counts, iterates and is stored
// right, or in faults that lie within the file.
func FuzzRead(f *testing.F) {
	for _, file := range []string{
		"", "# c\n", mixed, "\ufeffa: 1\r\nb: [2, 3)\r\n", "a: !!python/tuple\n- 0\n- 0.8\n- 0.2\n",
		"a: \"[5,20,5)\"\nb: !interval [5, 0, -2]\nc: !!str \"[1,2)\"\n",
		"a: &v [1, 2]\nb: *v\n<<: {c: 3}\n",
		"a: []\nb c: [1, ~]\nd: !interval [1]\na: {}\n", "a: 1\n---\nzip: 3\n", "a: [1, 2\nb: 3\n",
		"\ta: 1\n",
		"# \u2028\u0085\na: [~, \"x\\ty\"]\n", "a: |\n  x\n  y\nb: >-\n  z\n",
		"<<: &m {a: 1, <<: *m}\n", "? [a]\n: 1\n",
		"a: !interval [1e-3, 4e-3, 1e-3]\nb: !interval [-1e20, 1e20, 1e20]\n",
		"a: yes\n1: [true, 5]\n", "a: *b\n",
		"a: !log [1e-5, 1, 6]\nb: !int [1, 9, 2]\nc: [1, 2]\n---\nzip: [[b, c]]\nwhere: a * b " +
			"< 2\n", "- {a: 1}\n- {b: x}\n---\ndefaults: {c: 1}\n",
		"a: [1, 2]\nb: [1, 2]\n---\nwhen: {b: a = 1}\nexclude: [{a: 2}]\ninclude: [{a: " +
			"3}]\nrepeat: b\nsample: 2\nseed: 1\n",
		"lr: [1, 2]\nb: [1, 2]\n---\nwhen: {b: lr = 1}\ndefaults: {b: [1, 2]}\ninclude: [{lr: " +
			"1}]\n",
		"a: [1, 2]\nb: [1, 2]\nc: [1, 2]\n---\nwhen: {b: a = 1, c: b = 1}\ndefaults: {b: " +
			"[1]}\ninclude: [{a: 1}]\n",
		"a: [1, 2]\n---\nzip: []\n", "a: [1, 2]\n---\nrepeat: []\n",
		"a: [[1, {b: null, <<: {c: .5}}], null, [&l [], *l]]\n---\nexclude: {a: [null]}\n",
		"- {a: [[1]]}\n- {a: [{b: [1]}]}\n", "a: &a [[1, *a]]\n",
		"0: [0: 0\"0: [0\x80)\n0",
	} {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, notes, err := space.Read("p.yml", data)
		checkPlaces(t, data, notes)
		if err != nil {
			var faults fault.List
			if !errors.As(err, &faults) || len(faults) == 0 || s != nil {
				t.Fatalf("space %v, error %T %v", s, err, err)
			}
			for _, fault := range faults {
				if fault.Line == 0 || fault.Problem == "" {
					t.Errorf("%+v has no place or no problem", fault)
				}
			}
			checkPlaces(t, data, faults)
			return
		}
		if s.Len() < 1 {
			t.Fatalf("%d points", s.Len())
		}
		checkRoundTrip(t, s)
		for i := range min(s.Len(), 50) {
			checkArguments(t, s, i)
			checkArguments(t, s, s.Len()-1-i)
		}
	})
}

var lineEnd = regexp.MustCompile(`\r\n|\r|\n`)

// checkPlaces wants every place within the file: an existing line, and a column at most one past
// its end.
func checkPlaces(t *testing.T, data []byte, faults fault.List) {
	t.Helper()
	lines := lineEnd.Split(string(data), -1)
	for _, f := range faults {
		if f.Line > len(lines) || f.Line > 0 &&
			f.Column > utf8.RuneCountInString(lines[f.Line-1])+1 {
			t.Errorf("%v lies outside the file", f)
		}
		if !utf8.ValidString(f.String()) {
			t.Errorf("%q is not UTF-8 text", f.String())
		}
	}
}
