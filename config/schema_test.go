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

func TestExampleLoads(t *testing.T) {
	t.Parallel()
	c, warnings := load(t, config.Source{File: write(t, "config.yml", config.Example), Saved: true})
	if s, err := c.Selection(); err != nil || len(s.Workers) != 2 || warnings != "" {
		t.Error(s, err, warnings)
	}
}

// Each key that is left out can be put to use alone, and means something.
func TestExampleKeysLeftOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	was, err := config.OptionsOf(dir, "/home/anna", []byte(config.Example))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range leftOut.FindAllString(config.Example, -1) {
		used := strings.Replace(config.Example, line, line[1:], 1)
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
	if err := yaml.Unmarshal([]byte(leftOut.ReplaceAllString(config.Example, "$1")), &file); err != nil {
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

// The page shows the example as it is; -update writes it anew.
func TestPage(t *testing.T) {
	t.Parallel()
	page := filepath.Join("..", "docs", "config.md")
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(data), "```yaml\n")
	_, after, ok2 := strings.Cut(rest, "```\n")
	if !ok1 || !ok2 {
		t.Fatal("the page has no place for the example")
	}
	want := before + "```yaml\n" + config.Example + "```\n" + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("docs/config.md does not show example.yml: go test ./config -run TestPage -update\n%s", diff)
	}
	for _, f := range config.Flags() {
		if !strings.Contains(string(data), "`"+config.Variable(f.Name)+"`") {
			t.Errorf("the page does not name %s", config.Variable(f.Name))
		}
	}
}
