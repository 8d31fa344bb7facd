package template_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/projects/template"
	"mlframework/sweep/fault"
)

var names = []string{".mlframeworkignore", "parameters.yml", "tasks.yml", "train.py"}

func TestWrite(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "new", "project")} {
		written, err := template.Write(dir)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]string, len(names))
		for i, name := range names {
			want[i] = filepath.Join(dir, name)
			got, err := os.ReadFile(want[i])
			if err != nil {
				t.Fatal(err)
			}
			original, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(original), string(got)); diff != "" {
				t.Error(diff)
			}
		}
		if diff := cmp.Diff(want, written); diff != "" {
			t.Error(diff)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, ".notes"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(full, ".notes")
	for dir, want := range map[string]string{
		full: full + `: is not empty: it holds ".notes"; name a new folder or an empty one`,
		file: file + `: is not a folder; name a new folder`,
	} {
		written, err := template.Write(dir)
		var list fault.List
		if !errors.As(err, &list) || err.Error() != want || written != nil {
			t.Errorf("Write(%s): %v, %v", dir, written, err)
		}
	}
	if got := content(t, full); !slices.Equal(got, []string{".notes"}) {
		t.Errorf("the folder holds %v", got)
	}
}

// A folder that cannot be made leaves nothing of those above it.
func TestWriteTakesBack(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	long := strings.Repeat("x", 300) // longer than a file's name can be
	written, err := template.Write(filepath.Join(top, "new", "deeper", long))
	var list fault.List
	if err == nil || errors.As(err, &list) || written != nil {
		t.Errorf("Write: %v, %v", written, err)
	}
	if got := content(t, top); len(got) > 0 {
		t.Errorf("left behind: %v", got)
	}
}

func TestWriteWithoutPermission(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("SKIPPED: root writes everywhere, so that this needs another user")
	}
	top := t.TempDir()
	if err := os.Chmod(top, 0o500); err != nil {
		t.Fatal(err)
	}
	_, err := template.Write(filepath.Join(top, "new"))
	want := "make the folder " + filepath.Join(top, "new") + ": permission denied"
	if !errors.Is(err, fs.ErrPermission) || err.Error() != want {
		t.Error(err)
	}
}

// The program has the flags that parameters.yml names, and prints what tasks.yml looks for.
func TestTraining(t *testing.T) {
	t.Parallel()
	parameters := matches(t, "parameters.yml", `(?m)^([a-z]+):`)
	if diff := cmp.Diff(matches(t, "train.py", `add_argument\("--([a-z]+)"`),
		parameters); diff != "" {
		t.Error(diff)
	}
	dir := t.TempDir()
	if _, err := template.Write(dir); err != nil {
		t.Fatal(err)
	}
	first := train(t, dir, "--units=32", "--lr=0.50", "--epochs=2", "--augment")
	want := `epoch 1 validation accuracy: 0.4874
{"metrics": {"loss": 0.5126}, "step": 1}
epoch 2 validation accuracy: 0.7064
{"metrics": {"loss": 0.2936}, "step": 2}
`
	if diff := cmp.Diff(want, first); diff != "" {
		t.Error(diff)
	}
	pattern := matches(t, "tasks.yml", `accuracy: '(.*)'`)[0]
	if found := regexp.MustCompile(pattern).FindStringSubmatch(first); found == nil ||
		found[1] != "0.4874" {
		t.Errorf("the pattern found %q", found)
	}
	if got := content(t, dir); !slices.Equal(got, names) {
		t.Errorf("the training left %v", got)
	}
}

func train(t *testing.T, dir string, flags ...string) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("SKIPPED: python3 is not on the PATH: install Python 3 to test the training")
	}
	command := exec.CommandContext(t.Context(), python, append([]string{"-u", "train.py"},
		flags...)...)
	command.Dir = dir
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return string(output)
}

func matches(t *testing.T, file, pattern string) []string {
	t.Helper()
	data, err := template.Files.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(data), -1) {
		found = append(found, m[1])
	}
	return found
}

func content(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}
