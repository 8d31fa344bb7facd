package definition_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"mlframework/sweep/definition"
)

// schema is the example that run-tasks init writes.
const schema = "../../projects/template/tasks.yml"

// leftOut is a key behind a bare #, which a person can put to use by removing that.
var leftOut = regexp.MustCompile(`(?m)^( *)#([a-z-]+:.*)$`)

func TestSchemaLoads(t *testing.T) {
	t.Parallel()
	f := read(t, schemaText(t))
	for _, name := range []string{"test_echo", "run_training"} {
		if _, err := f.Task(name); err != nil {
			t.Error(err)
		}
	}
}

// Each key that is left out can be put to use alone.
func TestSchemaKeysLeftOut(t *testing.T) {
	t.Parallel()
	text := schemaText(t)
	for _, line := range leftOut.FindAllString(text, -1) {
		used := leftOut.ReplaceAllString(line, "$1$2")
		if strings.Contains(used, "idle:") {
			used += "\n    gpus: 1" // without it there is nothing that could be idle
		}
		got := read(t, strings.Replace(text, line, used, 1))
		if cmp.Equal(read(t, text), got) {
			t.Errorf("%s changes nothing", used)
		}
	}
}

// The schema has the keys that the reader knows, and no other.
func TestSchemaIsComplete(t *testing.T) {
	t.Parallel()
	var file struct {
		Tasks     map[string]map[string]yaml.Node
		Container map[string]yaml.Node
		Notify    map[string]yaml.Node
		Rest      map[string]yaml.Node `yaml:",inline"`
	}
	if err := yaml.Unmarshal([]byte(leftOut.ReplaceAllString(schemaText(t), "$1$2")),
		&file); err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{"": {"tasks", "container", "notify"},
		"container": keys(file.Container), "notify": append(keys(file.Notify), "command")}
	got[""] = append(got[""], keys(file.Rest)...)
	for _, task := range file.Tasks {
		got["task"] = append(got["task"], keys(task)...)
		for _, inner := range []string{"retry", "gpus", "idle"} {
			if node, found := task[inner]; found {
				var mapping map[string]yaml.Node
				if err := node.Decode(&mapping); err != nil {
					t.Fatal(err)
				}
				got[inner] = append(got[inner], keys(mapping)...)
			}
		}
	}
	want := definition.Keys()
	for at := range want {
		slices.Sort(want[at])
		slices.Sort(got[at])
		got[at] = slices.Compact(got[at])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Every key has a comment: the lines above it, or above the key before it that it shares them with.
func TestSchemaExplains(t *testing.T) {
	t.Parallel()
	explained := false
	for line := range strings.Lines(schemaText(t)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "# "):
			explained = true
		case line == "":
			explained = false
		case !explained && line != "tasks:" && !strings.HasSuffix(line, ":"):
			t.Errorf("no comment explains %s", line)
		}
	}
}

func schemaText(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(schema)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func keys(m map[string]yaml.Node) []string {
	list := make([]string, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	return list
}
