package projects_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"mlframework/projects"
)

func TestLinks(t *testing.T) {
	t.Parallel()
	const out = "out" // the link is refused
	for name, test := range map[string]struct {
		target string // of sub/link; TOP stands for the project's folder
		others tree
		want   string
	}{
		"beside":              {"x", nil, "x"},
		"up":                  {"../x", nil, "../x"},
		"to the top":          {"..", nil, ".."},
		"above the top":       {"../..", nil, out},
		"out and in by name":  {"../../TOPNAME/x", nil, out},
		"dangling":            {"no/such/thing", nil, "no/such/thing"},
		"dangling above":      {"no/../../../x", nil, out},
		"absolute":            {"/etc/hosts", nil, out},
		"absolute dangling":   {"/no/such/thing", nil, out},
		"absolute inside":     {"TOP/data/x", nil, "../data/x"},
		"absolute to the top": {"TOP", nil, ".."},
		"absolute, then up":   {"TOP/../x", nil, out},
		"sibling's prefix":    {"TOP-other/x", nil, out},
		"through a link":      {"../a/x", tree{"a": "->/etc"}, out},
		"through two links":   {"../a", tree{"a": "->b", "b": "->../x"}, out},
		"a link's parent": {"../a/../../x", tree{"a": "->deep/er", "deep/er/f": ""},
			"../a/../../x"},
		"a link's parent, out":  {"../a/../../x", tree{"a": "->deep", "deep/f": ""}, out},
		"through its own top":   {"../a/x", tree{"a": "->TOP/deep", "deep/x": ""}, "../a/x"},
		"its own top, then out": {"a/../../x", tree{"sub/a": "->TOP/deep", "deep/x": ""}, out},
		"circle":                {"../a", tree{"a": "->sub/link"}, "../a"},
		"itself":                {"link", nil, "link"},
		"strange name":          {"../a\nb \xff", nil, "../a\nb \xff"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "project")
			real, err := filepath.EvalSymlinks(filepath.Dir(dir))
			check(t, err)
			fill := func(s string) string {
				return replaceAll(s, "TOPNAME", "project", "TOP", filepath.Join(real, "project"))
			}
			files := tree{"sub/link": "->" + fill(test.target), ".gitignore": "/a\n/b\n"}
			for path, content := range test.others {
				files[path] = fill(content)
			}
			plantIn(t, dir, files)
			m, err := projects.Scan(context.Background(), dir, projects.Options{})
			var refused *projects.FileError
			if test.want == out {
				if err == nil && len(m.Skipped) == 1 && m.Skipped[0].Path == "sub/link" {
					return // to nothing
				}
				if !errors.As(err, &refused) || refused.Path != "sub/link" ||
					refused.Fault != projects.LeavesProject {
					t.Fatalf("Scan: %v, want sub/link refused", err)
				}
				return
			}
			check(t, err)
			for _, e := range m.Entries {
				if e.Path == "sub/link" && e.Link != test.want {
					t.Errorf("link to %q, want %q", e.Link, test.want)
				}
			}
		})
	}
}

func TestProjectCalledByALink(t *testing.T) {
	t.Parallel()
	top := plant(t, tree{"real/x": "1", "name": "->real"})
	name := filepath.Join(top, "name")
	check(t, os.Symlink(filepath.Join(name, "x"), filepath.Join(top, "real/y")))
	m := scan(t, name)
	if got := m.Entries[1].Link; got != "x" {
		t.Errorf("link to %q, want x", got)
	}
	if base := filepath.Base(m.Dir); base != "real" {
		t.Errorf("Dir ends in %s, want real", base)
	}
}
