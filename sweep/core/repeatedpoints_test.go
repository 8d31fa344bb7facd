package core_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mlframework/sweep/core"
	"mlframework/sweep/space"
)

func TestRepeats(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spaces                   []string
		repeats, repeated, point []string
	}{
		"none": {[]string{"a: [1, 2]\nb: 3\n"}, nil, []string{"a"}, []string{"a", "b"}},
		"one": {[]string{"a: [1, 2]\nseed: [1, 5)\nb: 3\nc: [x, y]\n---\nrepeat: seed\n"},
			[]string{"seed"}, []string{"a", "c"}, []string{"a", "b", "c"}},
		"nothing else": {[]string{"seed: [1, 5)\n---\nrepeat: seed\n"}, []string{"seed"}, nil, nil},
		"several": {[]string{"a: [1, 2]\nseed: [1, 5)\nfold: [1, 2]\n---\nrepeat: [seed, " +
			"fold]\n"}, []string{"seed", "fold"}, []string{"a"}, []string{"a"}},
		"zipped": {[]string{"a: [1, 2]\nb: [3, 4]\nseed: [1, 2]\n---\nzip: [a, b]\nrepeat: seed\n"},
			[]string{"seed"}, []string{"a", "b"},
			[]string{"a", "b"}},
		"absent at times": {[]string{"a: [1, 2]\nb: 7\nseed: [1, 2]\n---\nwhen: {b: a = " +
			"1}\nrepeat: seed\n"}, []string{"seed"}, []string{"a", "b"},
			[]string{"a", "b"}},
		"extended": {[]string{"a: 1\nb: 2\nseed: [1, 2]\n---\nrepeat: seed\n",
			"a: 4\nb: 2\nseed: [1, 2]\n---\nrepeat: seed\n"}, []string{"seed"}, []string{"a"},
			[]string{"a", "b"}},
		"only included": {[]string{"lr: 0.1\nseed: [1, 2, 3]\n---\ninclude: [{lr: 0.5, seed: " +
			"1}]\nrepeat: seed\n"}, []string{"seed"}, []string{"lr"},
			[]string{"lr"}},
		"a fixed column": {[]string{"host: [a, b]\nseed: [1, 2]\n---\nrepeat: seed\n"},
			[]string{"seed"}, []string{"parameters.host"}, []string{"parameters.host"}},
		"another parameter": {[]string{"a: 1\nseed: [1, 2]\n---\nrepeat: seed\n",
			"a: 1\nseed: [1, 2]\nlate: 5\n---\nrepeat: seed\n"}, []string{"seed"},
			[]string{"late"}, []string{"a", "late"}},
	} {
		var r core.Record
		for i, text := range c.spaces {
			s, _, err := space.Read("parameters.yml", []byte(text))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if i == 0 {
				r.Space = s
			} else {
				r.Extensions = append(r.Extensions, s)
			}
		}
		if d := cmp.Diff(c.repeats, r.Repeats(), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: repeats (-want +got):\n%s", name, d)
		}
		if d := cmp.Diff(c.point, r.PointColumns(), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: all but the repeats (-want +got):\n%s", name, d)
		}
		if d := cmp.Diff(c.repeated, r.Repeated(), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: repeated (-want +got):\n%s", name, d)
		}
	}
}
