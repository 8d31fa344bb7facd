package argv_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/argv"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// A value that is put where an anchor stands would change at every alias, too; one that is put
// where an alias stands changes there only.
func TestFillAnchors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, of string
		keys     bool
		want     string // what is wrong, or the file
		notes    []string
	}{
		"value": {"lr: &x 0.1\nwd: *x\n", "lr=0.5", false,
			"c.yaml:2:5: lr: the alias *x has its value, which would change here, too; write the " +
				"value out here", nil},
		"value, all of it put": {"lr: &x 0.1\nwd: *x\n", "lr=0.5 wd=0.1", false,
			"lr: &x 0.5\nwd: 0.1\n", nil},
		"the alias alone": {"lr: &x 0.1\nwd: *x\n", "wd=0.5", false, "lr: &x 0.1\nwd: 0.5\n", nil},
		"mapping": {"base: &b {lr: 0.1}\nmodel: *b\n", "base.lr=0.5", false,
			"c.yaml:2:8: base.lr: the alias *b has its value, which would change here, too; " +
				"write the value out here", nil},
		"mapping, new key": {"base: &b {lr: 0.1}\nmodel: *b\n", "base.wd=0.5", true,
			"c.yaml:2:8: base.wd: the alias *b has its value", nil},
		"by two aliases": {"x: &x 1\nbase: &b\n  lr: *x\nmodel: [*b]\n", "x=2", false,
			"c.yaml:3:7: x: the alias *x has its value", nil},
		"other value": {"base: &b {lr: 0.1}\nmodel: *b\nwd: 1\n", "wd=2", false,
			"base: &b {lr: 0.1}\nmodel: *b\nwd: 2\n", nil},
		"merge": {"base: &b {lr: 0.1}\nmodel:\n  <<: *b\n  wd: 1\n", "base.lr=0.5 model.wd=2",
			false, "base: &b {lr: 0.5}\nmodel:\n  <<: *b\n  wd: 2\n",
			[]string{
				"c.yaml:3:7: base.lr: the merge of *b here takes its value, too, unless there is " +
					"a key of its own"}},
		"merge of several": {"base: &b {lr: 0.1}\nmodel: {<<: [*b]}\n", "base.lr=0.5", false,
			"base: &b {lr: 0.5}\nmodel: {<<: [*b]}\n",
			[]string{
				"c.yaml:2:14: base.lr: the merge of *b here takes its value, too, unless there " +
					"is a key of its own"}},
		"merge and alias": {"base: &b {lr: 0.1}\nmodel: {<<: *b}\nother: *b\n", "base.lr=0.5",
			false, "c.yaml:3:8: base.lr: the alias *b", nil},
		"merged key": {"base: &b {opt: {lr: 0.1}, l: [{lr: 1}]}\nmodel: {<<: *b}\n",
			"model.opt.lr=0.5", false,
			"c.yaml: has no key model.opt.lr of its own: it comes by a merge, <<; write the key " +
				"out beside the <<, which it goes before, or set new-keys: true", nil},
		"no merged key": {"base: &b {l: [{lr: 1}]}\nmodel: {<<: *b}\n", "model.l.lr=0.5", false,
			"c.yaml: has no key model.l.lr;", nil},
		"merged key, added": {"base: &b {lr: 0.1}\nmodel: {<<: *b}\n", "model.lr=0.5", true,
			"base: &b {lr: 0.1}\nmodel: {<<: *b, lr: 0.5}\n", nil},
		"below an alias": {"base: &b {lr: 0.1}\nmodel: *b # as base\nother: *b\n",
			"model.lr=0.5", false,
			"base: &b {lr: 0.1}\nmodel: {lr: 0.5} # as base\nother: *b\n", nil},
		"below an alias, and what it stands for": {"base: &b {lr: 0.1, wd: 1}\nmodel: *b\n",
			"base.lr=0.5 base.x=1 model.wd=2", true,
			"base: &b {lr: 0.5, wd: 1, x: 1}\nmodel: {lr: 0.1, wd: 2}\n", nil},
		"below two aliases": {"x: &x {lr: 0.1}\nbase: &b\n  opt: *x\nmodel: *b\n",
			"model.opt.lr=0.5", false, "x: &x {lr: 0.1}\nbase: &b\n  opt: *x\nmodel:\n  opt: " +
				"{lr: 0.5}\n", nil},
		"below an alias, new key": {"base: &b {lr: 0.1}\nmodel: *b\n", "model.wd.x=0.5", true,
			"base: &b {lr: 0.1}\nmodel: {lr: 0.1, wd: {x: 0.5}}\n", nil},
		"anchor in what an alias copies": {"base: &b {lr: &x 0.1, wd: *x}\nmodel: *b\n",
			"model.lr=0.5", false,
			"base: &b {lr: &x 0.1, wd: *x}\nmodel: {lr: 0.5, wd: *x}\n", nil},
		"anchor that is written again below": {
			"a: &b {lr: &x 1, wd: *x}\nc: &x 5\nm: *b\nn: *x\n", "m.lr=2", false,
			"a: &b {lr: &x 1, wd: *x}\nc: &x 5\nm: {lr: 2, wd: 1}\nn: *x\n", nil},
		"alias in itself": {"a: &a {b: *a}\nx: 1\n", "x=0.5", false, "a: &a {b: *a}\nx: 0.5\n",
			nil},
		"merge of itself": {"base: &b {<<: *b}\nx: 1\n", "y=0.5", false, "c.yaml: has no key y;",
			nil},
	} {
		f := task.File{From: "c.yaml", To: "c.yaml", NewKeys: c.keys}
		got, _, err := argv.Fill(f, []byte(c.text), given(c.of), nil)
		if err != nil {
			got = []byte(err.Error())
		}
		if cut := min(len(c.want), len(got)); err == nil && c.want != string(got) ||
			string(got[:cut]) != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
		var values []argv.Values
		for _, p := range given(c.of) {
			values = append(values, argv.Values{Name: p.Name, All: []space.Assignment{p}})
		}
		notes, wrong := argv.CheckFile(f, []byte(c.text), values, nil)
		if (wrong == nil) != (err == nil) {
			t.Errorf("%s: %v, and %v of the check", name, err, wrong)
		}
		var all []string
		for _, n := range notes {
			if text := n.String(); strings.Contains(text, "merge") {
				all = append(all, text)
			}
		}
		if diff := cmp.Diff(c.notes, all); wrong == nil && diff != "" {
			t.Errorf("%s: notes %s", name, diff)
		}
	}
}
