package main_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestStoresOfEarlierVersions holds that parameters files give the points that earlier versions
// made of them, in their order, and that what those ran is known by its key. Below testdata/stores
// are projects with a sweep, and an extension of it, that such a version ran, and the points that
// it had. The folders are named by the version of the sweep's record.
func TestStoresOfEarlierVersions(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"1", "4"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			f := folder{t, t.TempDir()}
			from := filepath.Join("testdata/stores", version)
			f.unpack(from)
			points, err := os.ReadFile(filepath.Join(from, "points"))
			if err != nil {
				t.Fatal(err)
			}

			stdout, stderr, code := f.run("--local", "-d", "p", "--dry-run", "--all", "--json",
				"train")
			if code != 0 {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			if diff := cmp.Diff(string(points), pointsOf(t, stdout)); diff != "" {
				t.Errorf("points (-before +now)\n%s", diff)
			}

			for args, want := range map[string]string{
				"--local -d p --missing train": "nothing is missing: 144 combinations of train, " +
					"and each has succeeded",
				"extend -d p": "train-1 has every combination of parameters.yml " +
					"already: there is nothing to add",
			} {
				stdout, stderr, code = f.run(strings.Fields(args)...)
				if code != 0 || stdout != "" || !strings.Contains(stderr, want) {
					t.Errorf("%s: exit code %d: %s%s", args, code, stdout, stderr)
				}
			}
			if ls, _, _ := f.run("ls", "--json"); strings.Count(ls, "\n") != 1 {
				t.Errorf("something ran: %s", ls)
			}
		})
	}
}

// unpack makes a project and a store of a folder of test data.
func (f folder) unpack(from string) {
	f.t.Helper()
	for _, name := range []string{"tasks.yml", "parameters.yml", "train.sh"} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			f.t.Fatal(err)
		}
		f.write("p/"+name, string(text))
	}
	packed, err := os.ReadFile(filepath.Join(from, "store.db.gz"))
	if err != nil {
		f.t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		f.t.Fatal(err)
	}
	store, err := io.ReadAll(r)
	if err != nil {
		f.t.Fatal(err)
	}
	f.write(".mlframework/store.db", string(store))
}

// TestListOfADamagedStore shows a sweep whose record is no JSON, and says so.
func TestListOfADamagedStore(t *testing.T) {
	t.Parallel()
	f := folder{t, t.TempDir()}
	f.unpack("testdata/stores/4")
	const file = ".mlframework/store.db"
	text, err := os.ReadFile(f.path(file))
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Replace(text, []byte(`,"recipe":{`), []byte(`,"recipe"!{`), 1)
	if bytes.Equal(damaged, text) {
		t.Fatal("the store has no record")
	}
	f.write(file, string(damaged))
	const want = "WARNING: train-1: the sweep's record is damaged at character 2"
	ls, warning, code := f.run("ls")
	if code != 0 || !strings.Contains(ls, "train-1") || !strings.HasPrefix(warning, want) {
		t.Errorf("ls: exit code %d: %s%s", code, ls, warning)
	}
	ls, _, code = f.run("ls", "--json")
	if code != 0 ||
		!strings.Contains(ls, `"reason":"the sweep's record is damaged at character 2`) {
		t.Errorf("ls --json: exit code %d: %s", code, ls)
	}
}

// pointsOf lists the tasks of a dry run, one line each: its id, and its command.
func pointsOf(t *testing.T, dryRun string) (points string) {
	t.Helper()
	for line := range strings.Lines(dryRun) {
		var task struct {
			ID   string
			Argv json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &task); err != nil {
			t.Fatal(err)
		}
		if task.ID != "" {
			points += task.ID + "\t" + string(task.Argv) + "\n"
		}
	}
	return points
}
