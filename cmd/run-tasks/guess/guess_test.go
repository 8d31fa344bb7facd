package guess_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"mlframework/cmd/run-tasks/guess"
	"mlframework/projects/template"
	"mlframework/sweep/definition"
	"mlframework/sweep/space"
)

var update = flag.Bool("update", false, "write the files that programs get")

// TestWrite reads the programs of each archive, and compares the files that are written for the
// first of them with those at its end.
func TestWrite(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	for _, name := range archives {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			project, want := fstest.MapFS{}, map[string]string{}
			var scripts []txtar.File
			for _, f := range a.Files {
				if f.Name == definition.FileName || f.Name == guess.ParametersFile {
					want[f.Name] = string(f.Data)
				} else {
					project[f.Name] = &fstest.MapFile{Data: f.Data}
					scripts = append(scripts, f)
				}
			}
			got := map[string]string{}
			if programs := guess.Programs(project); len(programs) > 0 {
				files := programs[0].Write("train", programs[1:])
				got[definition.FileName] = files.Tasks
				if files.Parameters != "" {
					got[guess.ParametersFile] = files.Parameters
				}
				check(t, files, programs[0])
			}
			if *update {
				a.Files = scripts
				for _, name := range []string{definition.FileName, guess.ParametersFile} {
					if got[name] != "" {
						a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(got[name])})
					}
				}
				if err := os.WriteFile(name, txtar.Format(a), 0o666); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-%s +written)\n%s", name, diff)
			}
		})
	}
}

// check reads the files as run-tasks does. The tasks.yml with all keys has the same definition.
func check(t *testing.T, files guess.Files, p guess.Program) {
	t.Helper()
	dir := t.TempDir()
	load := func(tasks string) definition.Task {
		if err := os.WriteFile(filepath.Join(dir, definition.FileName), []byte(tasks),
			0o600); err != nil {
			t.Fatal(err)
		}
		file, _, err := definition.Load(dir, nil)
		if err != nil || len(file.Tasks) != 1 {
			t.Fatalf("%v\n%s", err, tasks)
		}
		return file.Tasks[0]
	}
	example, err := template.Files.ReadFile(definition.FileName)
	if err != nil {
		t.Fatal(err)
	}
	short, full := load(files.Tasks), load(p.WriteFull("train", string(example)))
	for _, pair := range [][2]any{{short.Command, full.Command}, {short.Metrics, full.Metrics},
		{short.Parameters, full.Parameters}, {short.Flags, full.Flags},
		{short.Switch, full.Switch}, {short.Env, full.Env}, {short.Objective, full.Objective},
		{short.Timeout, full.Timeout}, {short.Grace, full.Grace}, {short.Retry, full.Retry}} {
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("tasks.yml with all keys differs:\n%s", diff)
		}
	}
	if files.Parameters == "" {
		return
	}
	s, _, err := space.Read(guess.ParametersFile, []byte(files.Parameters), space.Change{})
	if err != nil || s.Len() != int64(files.Count) {
		t.Errorf("%d tasks are announced: %v\n%s", files.Count, err, files.Parameters)
	}
	all := regexp.MustCompile(`(?m)^#(\w)`).ReplaceAllString(files.Parameters, "$1")
	if _, _, err := space.Read(guess.ParametersFile, []byte(all), space.Change{}); err != nil {
		t.Errorf("%v\n%s", err, all)
	}
}
