package yamlfile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
)

// The line of a fault is where something was opened and not closed, however lines end and however
// long the text is.
func TestTheLineOfAFault(t *testing.T) {
	t.Parallel()
	for text, line := range map[string]int{
		"a: [1\nb: 2\n":                          1,
		"a: 1\r\nb: [1\r\nc: 2\r\n":              2,
		"a: 1\rb: [1\rc: 2\r":                    2,
		"a: 1\n---\nb: {\n":                      3,
		"a:\n  b: 1\n c: 2\n":                    3,
		strings.Repeat("# x\n", 1000) + "a: [":   1001,
		"a: [\n" + strings.Repeat("- x\n", 1000): 1,
	} {
		if _, wrong := yamlfile.Read(text, 2); wrong == nil || wrong.Line != line {
			t.Errorf("%.20q: %v, want line %d", text, wrong, line)
		}
	}
}

// An alias of nothing is found among others, and among texts that look like it.
func TestThePlaceOfAnUnknownAnchor(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"z: *a\ny: *a\n":            "1:4",
		"x: &ab 1\ny: *ab\nz: *a\n": "3:4",
		"x: 1 # *a\nz: [1, *a]\n":   "2:8",
		"x: '*a'\nz: *a\n":          "2:4",
		"x: |\n  *a\nz: *a\n":       "3:4",
		"x: 1\n*a : 2\n":            "2:1",
		"# *a\r\nz:\r\n- é: *a\r\n": "3:6",
		// That would take too long: only its line is known.
		strings.Repeat("# *a\n", 3000) + "z: *a": "3001:0",
	} {
		_, wrong := yamlfile.Read(text, 2)
		if wrong == nil || !strings.Contains(wrong.Problem, "*a stands for nothing before it") {
			t.Errorf("%.20q: %v", text, wrong)
		} else if got := fmt.Sprintf("%d:%d", wrong.Line, wrong.Column); got != want {
			t.Errorf("%.20q: %s, want %s", text, got, want)
		}
	}
}

func TestMapping(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{a: 1, b: 2}":                       "a=1 b=2",
		"{a: 1, a: 2}":                       "a=1 a=2 | twice a",
		"{x: &x {a: 1, b: 2}, <<: *x, b: 3}": "x= a=1 b=3",
		"{<<: [{a: 1}, {a: 2, b: 2}], c: 3}": "a=1 b=2 c=3",
		`{"<<": 1, &k k: 2, *k : 3}`:         "<<=1 k=2 k=3 | twice k",
		"{[a]: 1, <<: 2, b: 3}":              "b=3 | no name | no mapping",
		"&x {a: 1, <<: *x}":                  "a=1 | in itself",
		"{<<: &x {a: 1, <<: [*x]}, b: 2}":    "a=1 b=2 | in itself",
	} {
		documents, wrong := yamlfile.Read(text, 1)
		if wrong != nil {
			t.Fatal(wrong)
		}
		var entries []string
		var mistakes string
		m := yamlfile.Mapping{Wrong: func(m yamlfile.Mistake, at, first *yaml.Node) {
			mistakes += " | " + map[yamlfile.Mistake]string{
				yamlfile.NoName: "no name", yamlfile.Twice: "twice ",
				yamlfile.NoMapping: "no mapping",
				yamlfile.InItself:  "in itself",
			}[m]
			if first != nil {
				mistakes += yamlfile.Target(first).Value
			}
		}}
		for _, e := range m.Entries(documents[0].Content[0]) {
			entries = append(entries, fmt.Sprintf("%s=%s", e.Name, yamlfile.Target(e.Value).Value))
		}
		if d := cmp.Diff(want, strings.Join(entries, " ")+mistakes); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
}
