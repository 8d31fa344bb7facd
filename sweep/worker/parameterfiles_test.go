package worker_test

import (
	"os"
	"path/filepath"
	"testing"

	"mlframework/sweep/argv"
	"mlframework/sweep/worker"
)

// TestParameterFilesBesideLeftovers writes the files that an attempt is given where an earlier
// one, or the end of a worker, left something in their way.
func TestParameterFilesBesideLeftovers(t *testing.T) {
	t.Parallel()
	given := argv.Given{To: "conf/run.yaml", File: []byte("lr: 0.1\n"),
		Parameters: []byte("{\n  \"lr\": 0.1\n}\n")}
	for name, row := range map[string]struct {
		left       func(dir, elsewhere string) error
		parameters string
	}{
		"nothing": {func(string, string) error { return nil }, string(given.Parameters)},
		"a link out of the folder in place of a folder": {func(dir, elsewhere string) error {
			return os.Symlink(elsewhere, dir+"/conf")
		}, string(given.Parameters)},
		"a link out of the folder in place of the file": {func(dir, elsewhere string) error {
			if err := os.Mkdir(dir+"/conf", 0o755); err != nil {
				return err
			}
			return os.Symlink(elsewhere+"/run.yaml", dir+"/conf/run.yaml")
		}, string(given.Parameters)},
		"a folder with something in place of the file": {func(dir, _ string) error {
			return os.MkdirAll(dir+"/conf/run.yaml/x", 0o755)
		}, string(given.Parameters)},
		"a file in place of a folder": {func(dir, _ string) error {
			return os.WriteFile(dir+"/conf", nil, 0o644)
		}, string(given.Parameters)},
		"no byte of the parameters": {func(dir, _ string) error {
			return os.WriteFile(dir+"/parameters.json", nil, 0o644)
		}, string(given.Parameters)},
		"the first bytes of the parameters": {func(dir, _ string) error {
			return os.WriteFile(dir+"/parameters.json", given.Parameters[:5], 0o644)
		}, string(given.Parameters)},
		"another file of that name": {func(dir, _ string) error {
			return os.WriteFile(dir+"/parameters.json", []byte("mine"), 0o644)
		}, "mine"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, elsewhere := t.TempDir(), t.TempDir()
			users := filepath.Join(elsewhere, "run.yaml")
			if err := os.WriteFile(users, []byte("the user's own"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := row.left(dir, elsewhere); err != nil {
				t.Fatal(err)
			}
			if err := worker.WriteParameters(dir, given); err != nil {
				t.Fatal(err)
			}
			for path, want := range map[string]string{users: "the user's own",
				dir + "/conf/run.yaml":   string(given.File),
				dir + "/parameters.json": row.parameters} {
				if text, err := os.ReadFile(path); err != nil || string(text) != want {
					t.Errorf("%s has %q, want %q, %v", path, text, want, err)
				}
			}
		})
	}
}
