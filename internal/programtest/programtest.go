// Package programtest has training programs as real ones are made, and checks what each task of a
// sweep of them leaves.
//
// Every program is a folder below testdata: project, as a user has it, and leaves, which is all
// that a task's folder holds afterwards beside its parameters.json. Each has the parameter lr with
// four values. The programs check for themselves that nobody else's files are in their way, and
// fail where they are.
//
// Only tests import it.
package programtest

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

//go:embed all:testdata
var files embed.FS

// Tasks is how many tasks a sweep of a program has.
const Tasks = 4

// Definition is the name of every program's only definition.
const Definition = "train"

// Program is one training program.
type Program string

// The programs, each named for what it does with its files.
const (
	Checkpoint Program = "checkpoint" // saves over a file of the project and reloads it
	// writes caches beside the files of a data set, which Fill makes
	Dataset   Program = "dataset"
	OwnFolder Program = "ownfolder" // changes into the folder of its own file, and writes there
	// makes its data beside the program that does so, mapped into memory
	Prepare Program = "prepare"
	Resumes Program = "resumes" // is interrupted, and goes on from its own checkpoint
	Root    Program = "root"    // writes below the root that it finds from its real path
	Sibling Program = "sibling" // works in one folder, and uses ../data and an empty results
	Tidies  Program = "tidies"  // changes, replaces, renames and removes files of its project
)

// All are the programs that need nothing but their files.
var All = []Program{Checkpoint, OwnFolder, Prepare, Resumes, Root, Sibling, Tidies}

// Write makes the program's project in a folder. What begins with #! can be executed.
func (p Program) Write(t testing.TB, dir string) {
	t.Helper()
	walk(t, path.Join("testdata", string(p), "project"), func(name string, text []byte) {
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(string(text), "#!") {
			mode = 0o755
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, mode); err != nil {
			t.Fatal(err)
		}
	})
}

// walk goes through the files below a folder of this package.
func walk(t testing.TB, dir string, each func(name string, text []byte)) {
	t.Helper()
	err := fs.WalkDir(files, dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := files.ReadFile(file)
		each(strings.TrimPrefix(file, dir+"/"), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Left checks that the folders of a sweep's tasks, DIR/0 to DIR/3, hold what the program makes and
// nothing else, and that no two of them share a file.
func (p Program) Left(t testing.TB, dir string) {
	t.Helper()
	owners := map[inode]string{}
	for task := range Tasks {
		want := map[string]string{}
		lr := strconv.FormatFloat(float64(task+1)/10, 'g', -1, 64)
		third := strconv.FormatFloat(float64(task+1)/30, 'f', 3, 64)
		fill := strings.NewReplacer("{lr}", lr, "{lr/3}", strings.TrimRight(third, "0"))
		walk(t, path.Join("testdata", string(p), "leaves"), func(name string, text []byte) {
			want[name] = fill.Replace(string(text))
		})
		want["parameters.json"] = "{\n  \"lr\": " + lr + "\n}\n"
		p.left(t, filepath.Join(dir, strconv.Itoa(task)), want, owners)
	}
}

// left checks one task's folder. Owners maps the files seen so far to the folders of their tasks.
func (p Program) left(t testing.TB, dir string, want map[string]string, owners map[inode]string) {
	t.Helper()
	have := map[string]string{}
	for name, e := range Tree(t, dir) {
		if e.Mode.IsDir() {
			continue // those that hold something are seen by it
		}
		have[name] = e.text(t, filepath.Join(dir, name))
		if other, taken := owners[e.inode]; taken && other != dir {
			t.Errorf("%s: %s in %s is also in %s", p, name, dir, other)
		}
		owners[e.inode] = dir
	}
	if d := cmp.Diff(want, have); d != "" {
		t.Errorf("%s: %s (-want +have):\n%s", p, dir, d)
	}
}

// Fill makes a data set of 5,000 files in folders of a project: data/part0 has 4,100 of them,
// data/part1 to data/part9 have 100 each. Ten of them are of a size that is given and hold nothing,
// so that they take no room on the disk; the others have some bytes.
func Fill(t testing.TB, dir string, large int64) {
	t.Helper()
	for n := range 5000 {
		part := filepath.Join(dir, "data", "part"+strconv.Itoa(max(0, n-4000)/100))
		err := os.MkdirAll(part, 0o755)
		name := filepath.Join(part, fmt.Sprintf("%d.jpg", n))
		if n%500 == 499 {
			err = errors.Join(err, os.WriteFile(name, nil, 0o644), os.Truncate(name, large))
		} else {
			err = errors.Join(err, os.WriteFile(name, fmt.Appendf(nil, "image %d\n", n), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
