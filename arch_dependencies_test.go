package mlframework_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestArchitectureNamesEveryDependency holds the table of dependencies in ARCHITECTURE.md: rows
// that begin with the path of a module.
func TestArchitectureNamesEveryDependency(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatalf("ARCHITECTURE.md has a line of reason for each direct dependency: %v", err)
	}
	named := map[string]bool{}
	for row := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(row), "|")
		if len(cells) < 4 || cells[0] != "" {
			continue
		}
		name, reason := strings.Trim(cells[1], " `"), strings.TrimSpace(cells[len(cells)-2])
		if domain, _, ok := strings.Cut(name, "/"); ok && strings.Contains(domain, ".") &&
			reason != "" {
			named[name] = true
		}
	}
	direct, tools := requirements(t)
	for _, d := range direct {
		if !named[d] {
			t.Errorf("go.mod requires %s, for which ARCHITECTURE.md has no row with a reason", d)
		}
		delete(named, d)
	}
	for _, n := range slices.Sorted(maps.Keys(named)) {
		if !slices.Contains(tools, n) {
			t.Errorf("ARCHITECTURE.md names %s, which is no direct dependency", n)
		}
	}
}

// requirements are the modules that this project imports or names as direct, and those of its
// tools.
func requirements(t *testing.T) (direct, tools []string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json").Output()
	if err != nil {
		t.Fatalf("go mod edit -json: %v", err)
	}
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
		Tool []struct{ Path string }
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, p := range readPackages(t) {
		maps.Copy(used, p.imports)
		maps.Copy(used, p.tests)
	}
	for _, r := range mod.Require {
		of := func(i string) bool { return within(i, r.Path) }
		switch {
		case !r.Indirect || slices.ContainsFunc(slices.Collect(maps.Keys(used)), of):
			direct = append(direct, r.Path)
		case slices.ContainsFunc(mod.Tool, func(tool struct{ Path string }) bool {
			return of(tool.Path)
		}):
			tools = append(tools, r.Path)
		}
	}
	return direct, tools
}
