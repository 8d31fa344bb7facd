// Package mlframework_test holds the layers of the project: the build fails, with the reason, where
// they are crossed.
//
// The tables are in arch_table_test.go, the picture is in ARCHITECTURE.md. Nothing may import this
// package.
package mlframework_test

import (
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

func TestPackagesImportWhatTheTableAllows(t *testing.T) {
	t.Parallel()
	table := map[string]layer{}
	for _, l := range layers {
		table[l.path] = l
	}
	for _, p := range readPackages(t) {
		l, ok := table[p.path]
		if !ok {
			t.Errorf("%s is not in the import table: add a line to layers in arch_table_test.go "+
				"that says what it may import, and why", p.path)
			continue
		}
		delete(table, p.path)
		for _, i := range inModule(p.imports) {
			if !slices.Contains(l.imports, i) && !slices.Contains(l.imports, everything) {
				t.Errorf("%s imports %s, which the import table does not allow: %s", p.path, i,
					l.reason)
			}
			for _, a := range apart {
				if within(p.path, a.importer) && within(i, a.imported) && !exempt(i) {
					t.Errorf("%s imports %s: %s", p.path, i, a.reason)
				}
			}
		}
		if exempt(p.path) && len(inModule(p.imports)) > 0 {
			t.Errorf("%s imports %v, although every tree may import it: see together in "+
				"arch_table_test.go", p.path, inModule(p.imports))
		}
		for _, i := range inModule(p.tests) {
			if i != p.path && !slices.Contains(slices.Concat(l.imports, l.tests, []string{p.path}),
				i) && !slices.Contains(l.imports, everything) {
				t.Errorf("tests of %s import %s, which the import table does not allow: %s", p.path,
					i, l.reason)
			}
		}
		for _, i := range l.imports {
			if i != everything && !p.imports[module+"/"+i] {
				t.Errorf("the import table lets %s import %s, which it does not: take it out of "+
					"arch_table_test.go", p.path, i)
			}
		}
	}
	for _, gone := range slices.Sorted(maps.Keys(table)) {
		t.Errorf("the import table has %s, which is no package: take it out of arch_table_test.go",
			gone)
	}
}

// exempt reports whether a package may be imported across the trees that are apart.
func exempt(path string) bool {
	for _, e := range together {
		if e.path == path {
			return true
		}
	}
	return false
}

func TestDependenciesHaveOneOwner(t *testing.T) {
	t.Parallel()
	for _, p := range readPackages(t) {
		for test, imports := range map[bool]map[string]bool{false: p.imports, true: p.tests} {
			for _, i := range slices.Sorted(maps.Keys(imports)) {
				at := slices.IndexFunc(owners, func(o owner) bool { return within(i, o.path) })
				switch {
				case at < 0 && strings.Contains(strings.Split(i, "/")[0], "."):
					t.Errorf("%s imports %s, which has no owner: add a line to owners in "+
						"arch_table_test.go and one to ARCHITECTURE.md", p.path, i)
				case at >= 0 && !owners[at].allows(p.path, test):
					t.Errorf("%s imports %s, whose owner is %s: %s", p.path, i, owners[at].who(),
						owners[at].reason)
				}
			}
		}
	}
}

func (o owner) allows(p string, test bool) bool {
	return test && o.tests || slices.ContainsFunc(o.packages, func(owner string) bool {
		tree, all := strings.CutSuffix(owner, "/...")
		return p == owner || all && within(p, tree)
	})
}

func (o owner) who() string {
	who := slices.Clone(o.packages)
	if o.tests {
		who = append(who, "tests")
	}
	if len(who) == 0 {
		return "nobody"
	}
	return strings.Join(who, ", ")
}

func TestPackagesSayWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	for _, p := range readPackages(t) {
		switch {
		case p.name == "main" && !strings.HasPrefix(p.doc, "Command "+path.Base(p.path)+" "):
			t.Errorf(
				`%s has no doc comment that begins with "Command %s": what it is for is said there`,
				p.path, path.Base(p.path))
		case p.name != "main" && !strings.HasPrefix(p.doc, "Package "+p.name+" "):
			t.Errorf(
				`%s has no doc comment that begins with "Package %s": what it is for is said there`,
				p.path, p.name)
		}
	}
}

func TestPackagesAreNamedForWhatTheyOwn(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "std").Output()
	if err != nil {
		t.Fatalf("go list std: %v", err)
	}
	standard := map[string]string{}
	for _, s := range strings.Fields(string(out)) {
		if !within(s, "vendor") && !strings.Contains(s, "internal") {
			standard[path.Base(s)] = s
		}
	}
	for _, p := range readPackages(t) {
		if p.name != "main" && p.name != path.Base(p.path) {
			t.Errorf("%s is package %s: a package is named like its folder", p.path, p.name)
		}
		if slices.Contains(vague, p.name) {
			t.Errorf("%s: the name %q says nothing of what the package owns", p.path, p.name)
		}
		taken, excuse := standard[p.name], excused[p.path]
		switch {
		case taken != "" && excuse == "":
			t.Errorf("%s has the name of %s of the standard library", p.path, taken)
		case taken == "" && excuse != "":
			t.Errorf("%s needs no excuse for its name: take it out of arch_table_test.go", p.path)
		}
	}
}
