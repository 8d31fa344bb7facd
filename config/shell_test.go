package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/config"
)

const read = "config.sh: of the old system was read; what it says is saved in cluster.yml, and " +
	"then it is not needed any more"

// scripts are config.sh files, what is taken from them, and what is said of the rest.
var scripts = []struct {
	name, text string
	want       map[string][]string
	warnings   []string
}{
	{"as infrainit.sh wrote it", `
REMOTE_PATH="ML/mlframework"
PROJ_FOLDER="bowcnn"
REMOTE="ubuntu@192.0.2.1,ubuntu@192.0.2.2"
KEY="-i /home/anna/.ssh/id"
BROKER_ADDRESS="192.0.2.1"
START_MASTER="1"
START_WORKER="local,1,2"
`, map[string][]string{"folder": {"ML/mlframework"}, "project": {"bowcnn"}, "hosts": {"ubuntu@192.0.2.1", "ubuntu@192.0.2.2"},
		"key": {"/home/anna/.ssh/id"}, "master-address": {"192.0.2.1"}, "master": {"1"},
		"workers": {"local", "1", "2"}}, nil},
	{"by hand", "#!/bin/bash\nexport REMOTE='a b' # two\nKEY=$HOME/.ssh/id; " +
		"START_MASTER=local\nREMOTE_PATH=~/ml/\nSTART_WORKER=(1 \"2\" # x\n 3)\nPROJ_FOLDER=my\\ " +
		"code\n",
		map[string][]string{"hosts": {"a", "b"}, "key": {"~/.ssh/id"}, "master": {"local"},
			"folder": {"ml"}, "workers": {"1", "2", "3"}, "project": {"my code"}}, nil},
	{"a key with its option and a home folder", "KEY=\"-i ${HOME}/.ssh/a b\"\n",
		map[string][]string{"key": {"~/.ssh/a b"}}, nil},
	{"empty ones", "REMOTE=\"\"\nKEY=\nSTART_MASTER=''\nSTART_WORKER=()\n", map[string][]string{},
		nil},
	{"line ends of Windows", "REMOTE=a,b\r\nSTART_MASTER=1\r\n",
		map[string][]string{"hosts": {"a", "b"}, "master": {"1"}}, nil},
	{"the last one counts", "REMOTE=a\nREMOTE=b\nKEY=x\nKEY=\n",
		map[string][]string{"hosts": {"b"}}, nil},
	{"what needs a shell", "REMOTE=$(cat hosts)\nKEY=`ls`\nSTART_MASTER=$N\nif true; " +
		"then\nREMOTE_PATH=a|b\nPROJ_FOLDER='x\n", map[string][]string{}, []string{
		"config.sh:1: REMOTE is not understood: $(cat hosts); write a plain value",
		"config.sh:2: KEY is not understood: `ls`; write a plain value",
		"config.sh:3: START_MASTER is not understood: $N; write a plain value",
		"config.sh:4: is not understood: if true; only assignments are read, and nothing is run",
		"config.sh:4: is not understood: then; only assignments are read, and nothing is run",
		"config.sh:5: REMOTE_PATH is not understood: a|b; write a plain value",
		"config.sh:6: PROJ_FOLDER is not understood: 'x; write a plain value",
	}},
	{"others", "DEBUG=1\nrm -rf /\n", map[string][]string{}, []string{
		"config.sh:1: DEBUG means nothing here",
		"config.sh:2: is not understood: rm -rf /; only assignments are read, and nothing is run",
	}},
}

func TestShell(t *testing.T) {
	t.Parallel()
	for _, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			values, warnings := config.ReadShell(s.text)
			if diff := cmp.Diff(s.want, values); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(append(s.warnings, read), warnings); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// It is read with -f where there is no cluster.yml of the usual name, and becomes one.
func TestShellBecomesConfig(t *testing.T) {
	t.Parallel()
	old := write(t, "config.sh", scripts[0].text)
	dir := filepath.Dir(old)
	file := filepath.Join(dir, "cluster.yml")
	c, warnings := load(t, config.Source{File: file, Saved: true, User: "anna"})
	want := "hosts: ubuntu@192.0.2.1, ubuntu@192.0.2.2 (DIR/config.sh:4)\nkey: " +
		"/home/anna/.ssh/id (DIR/config.sh:5)\nfolder: ML/mlframework " +
		"(DIR/config.sh:2)\nproject: DIR/bowcnn (DIR/config.sh:3)\nmaster: 1 " +
		"(DIR/config.sh:7)\nworkers: local, 1, 2 (DIR/config.sh:8)\nmaster-address: 192.0.2.1 " +
		"(DIR/config.sh:6)\n"
	if diff := cmp.Diff(want, explain(c, dir)); diff != "" || c.Read != old ||
		!strings.Contains(warnings, "of the old system was read") {
		t.Error(diff, c.Read, warnings)
	}
	if err := config.Save(file, "", c.Options); err != nil {
		t.Fatal(err)
	}
	again, warnings := load(t, config.Source{File: file, Saved: true})
	if diff := cmp.Diff(c.Options, again.Options); diff != "" || again.Read != file ||
		warnings != "" {
		t.Error(diff, again.Read, warnings)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]config.Source{"without -f": {File: file},
		"another name": {File: filepath.Join(dir, "other.yml")}} {
		if c, _ := load(t, s); c.Read != "" {
			t.Errorf("%s: %s was read", name, c.Read)
		}
	}
	if err := os.WriteFile(old, []byte("REMOTE=a\nSTART_MASTER=3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := config.Load(config.Source{File: file, Saved: true})
	if err == nil || err.Error() != old+":2: START_MASTER: there is no host 3: one is named, a; "+
		"write 1 or local" {
		t.Error(err)
	}
}
