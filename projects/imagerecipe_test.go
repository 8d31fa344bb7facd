package projects_test

import (
	"os"
	"path/filepath"
	"testing"

	"mlframework/projects"
)

func TestRecipe(t *testing.T) {
	t.Parallel()
	const whole = "FROM python:3.12\nCOPY requirements.txt /tmp/\nCOPY --chown=1 [\"set up\", " +
		"\"c*.toml\", \"/etc/\"]\nRUN pip install \\\n  -r /tmp/requirements.txt\nadd tools \\\n " +
		" /opt/\nCOPY --from=other /bin/x /bin/\nADD https://example.org/a.py /a.py\nCOPY . /code\n"
	before := map[string]string{"Dockerfile": whole, "requirements.txt": "a", "set up": "b",
		"conf.toml": "c", "tools/deep/x": "d", "train.py": "e", "tools.py": "f",
		"docker/Dockerfile": "FROM a\nCOPY need /\n", "docker/need": "g", "docker/other": "h"}
	recipe := func(t *testing.T, folder string, change map[string]string) string {
		t.Helper()
		dir := t.TempDir()
		for _, files := range []map[string]string{before, change} {
			for name, text := range files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		m, err := projects.Scan(t.Context(), dir, projects.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := m.Recipe(folder)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for name, c := range map[string]struct {
		folder, file string
		counts       bool
	}{
		"the Dockerfile":         {".", "Dockerfile", true},
		"a file":                 {".", "requirements.txt", true},
		"a file of a list":       {".", "set up", true},
		"a pattern":              {".", "conf.toml", true},
		"what a folder holds":    {".", "tools/deep/x", true},
		"a new file of a folder": {"./", "tools/y", true},
		"code":                   {".", "train.py", false},
		"a name that begins so":  {".", "tools.py", false},
		"another's file":         {".", "docker/need", false},
		"of a folder of its own": {"docker", "docker/need", true},
		"beside it":              {"docker", "docker/other", false},
		"above it":               {"docker", "requirements.txt", false},
		"of another folder":      {"docker", "Dockerfile", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := recipe(t, c.folder, nil)
			changed := recipe(t, c.folder, map[string]string{c.file: "FROM another\n"})
			if (changed != old) != c.counts {
				t.Errorf("%s changed, and the recipe of %s: %v", c.file, c.folder, changed != old)
			}
		})
	}
}
