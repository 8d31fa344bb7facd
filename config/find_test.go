package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/config"
)

// The file of a cluster is that of the nearest folder which has one. A config.yml counts where it
// describes a cluster.
func TestFind(t *testing.T) {
	const ours, hydra = "hosts: [a]\nmaster: 1\n", "model: resnet\n"
	const former = "config.yml: has the former name of a cluster's file; rename it to cluster.yml"
	for name, c := range map[string]struct {
		files    map[string]string
		fresh    bool   // no -f
		want     string // the file; "": none is read
		project  string
		warnings string
	}{
		"here": {files: map[string]string{"p/src/cluster.yml": ours, "p/cluster.yml": hydra},
			want: "cluster.yml"},
		"above": {files: map[string]string{"p/cluster.yml": ours + "project: q\n"},
			want: "../cluster.yml", project: "../q"},
		"above, without a project": {files: map[string]string{"p/cluster.yml": ours,
			"p/tasks.yml": ""}, want: "../cluster.yml", project: ".."},
		"above another project": {files: map[string]string{"p/src/tasks.yml": "",
			"p/cluster.yml": ours + "project: q\n"}, want: "../cluster.yml", project: "."},
		"not above home": {files: map[string]string{"../cluster.yml": ours}},
		"a new cluster is of the folder": {files: map[string]string{"p/cluster.yml": ours},
			fresh: true},
		"the former name": {files: map[string]string{"p/src/config.yml": ours,
			"p/cluster.yml": ours}, want: "config.yml",
			warnings: former},
		"only hosts of their own": {files: map[string]string{
			"p/src/config.yml": "overrides: {a: {slots: 2}}\n"}, fresh: true, want: "config.yml",
			warnings: former},
		"another program's": {files: map[string]string{"p/src/config.yml": hydra,
			"p/cluster.yml": ours}, want: "../cluster.yml"},
		"another program's, with our keys": {files: map[string]string{
			"p/src/config.yml": "name: x\nworkers: 4\n"}},
		"both": {files: map[string]string{"p/src/config.yml": ours, "p/src/cluster.yml": ours},
			want:     "cluster.yml",
			warnings: "config.yml: is not read, because cluster.yml is there; remove it"},
		"of the old system": {files: map[string]string{"p/src/config.yml": hydra,
			"p/src/config.sh": "REMOTE=a\nSTART_MASTER=1\n"}, want: "config.sh",
			warnings: "config.sh: of the old system was read; what it says is saved in " +
				"cluster.yml, and then it is not needed any more"},
	} {
		t.Run(name, func(t *testing.T) {
			home := filepath.Join(t.TempDir(), "home")
			here := filepath.Join(home, "p", "src")
			if err := os.MkdirAll(here, 0o700); err != nil {
				t.Fatal(err)
			}
			for file, text := range c.files {
				if err := os.WriteFile(filepath.Join(home, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("HOME", home)
			t.Chdir(here)
			got, warnings, err := config.Load(config.Source{Saved: !c.fresh})
			if c.want == "" && !c.fresh {
				if err == nil || !strings.HasPrefix(err.Error(), "there is no cluster.yml") {
					t.Error(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			project := got.ProjectHere()
			if got.Read != c.want || project != c.project || warnings.Error() != c.warnings {
				t.Errorf("read %q, project %q, warnings %q", got.Read, project, warnings)
			}
			if file, found := config.Find(); !c.fresh && c.want != "config.sh" && (file != c.want ||
				!found) {
				t.Errorf("found %q", file)
			}
		})
	}
}

// A cluster.yml of another user in a folder above is passed over: who writes it would get the
// project's files.
func TestFindOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	below := filepath.Join(dir, "p", "src")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "p", "cluster.yml")
	if err := os.WriteFile(file, []byte("hosts: [a]\nmaster: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(below)
	if got, ok := config.Find(); !ok || got != "../cluster.yml" {
		t.Errorf("the user's own: %q, %v", got, ok)
	}
	if err := os.Chown(file, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if got, ok := config.Find(); ok {
		t.Errorf("another user's: %q", got)
	}
}
