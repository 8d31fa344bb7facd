package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"mlframework/config"
)

// leftOut is a key behind a bare #, which a person can put to use by removing that.
var leftOut = regexp.MustCompile(`(?m)^#([a-z-]+: .*)$`)

// example returns the cluster.yml that docs/config.md explains every key in.
func example(t testing.TB) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "docs", "config.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, begins := strings.Cut(string(page), "```yaml\n")
	text, _, ends := strings.Cut(rest, "```\n")
	if !begins || !ends {
		t.Fatal("docs/config.md has no example")
	}
	return text
}

func TestExampleLoads(t *testing.T) {
	t.Parallel()
	c, warnings := load(t, config.Source{File: write(t, "cluster.yml", example(t)), Saved: true})
	if s, err := c.Selection(); err != nil || len(s.Workers) != 2 || warnings != "" {
		t.Error(s, err, warnings)
	}
}

// Each key that is left out can be put to use alone, and means something.
func TestExampleKeysLeftOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	was, err := config.OptionsOf(dir, "/home/anna", []byte(example(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range leftOut.FindAllString(example(t), -1) {
		used := strings.Replace(example(t), line, line[1:], 1)
		is, err := config.OptionsOf(dir, "/home/anna", []byte(used))
		if err != nil || cmp.Equal(was, is) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// The example has the keys that the reader knows, and no other.
func TestExampleIsComplete(t *testing.T) {
	t.Parallel()
	var file map[string]yaml.Node
	used := leftOut.ReplaceAllString(example(t), "$1")
	if err := yaml.Unmarshal([]byte(used), &file); err != nil {
		t.Fatal(err)
	}
	var hosts map[string]map[string]yaml.Node
	overrides := file["overrides"]
	if err := overrides.Decode(&hosts); err != nil {
		t.Fatal(err)
	}
	top, own := config.Keys()
	if diff := cmp.Diff(slices.Sorted(slices.Values(top)), keys(file)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(own)), keys(hosts["gpu2"])); diff != "" {
		t.Error(diff)
	}
}

func keys(m map[string]yaml.Node) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	return slices.Sorted(slices.Values(list))
}

// Every option has a short flag, a variable and words for its help, and no two have the same.
func TestFlags(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range config.Flags() {
		for _, name := range []string{"--" + f.Name, "-" + f.Short, config.Variable(f.Name)} {
			if seen[name] && name != "-" {
				t.Errorf("%s is there twice", name)
			}
			seen[name] = true
		}
		if strings.Count(f.Usage, "`") != 2 && !f.Switch {
			t.Errorf("%s: %s", f.Name, f.Usage)
		}
	}
}

// The page names the variable and the flags of every option.
func TestPage(t *testing.T) {
	t.Parallel()
	page := text(t, filepath.Join("..", "docs", "config.md"))
	for _, f := range config.Flags() {
		row := "| `" + f.Name + "` | "
		if f.Short != "" {
			row += "`-" + f.Short + "`, "
		}
		row += "`--" + f.Name + "` | `" + config.Variable(f.Name) + "` |\n"
		if !strings.Contains(page, row) {
			t.Errorf("docs/config.md has no row %s", row)
		}
	}
}
