package folder_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// randomProject returns some files in some folders.
func randomProject(r *rand.Rand) map[string]string {
	files := map[string]string{}
	folders := []string{""}
	for i := range r.IntN(6) {
		folders = append(folders, path.Join(folders[r.IntN(len(folders))],
			fmt.Sprintf("d%d", i))+"/")
		files[folders[len(folders)-1]] = ""
	}
	for i := range r.IntN(20) {
		name := fmt.Sprintf("%sf%d%s", folders[r.IntN(len(folders))], i,
			[]string{"", ".py", ".sh", " ü"}[r.IntN(4)])
		files[name] = strings.Repeat(fmt.Sprint(i), r.IntN(30))
		if r.IntN(10) == 0 {
			files[name] = fmt.Sprintf("->f%d", i)
		}
	}
	return files
}

// change does something to a task's folder that a program might do, and adds the names of what it
// touched.
func change(t testing.TB, r *rand.Rand, root string, touched map[string]bool) {
	t.Helper()
	var files, folders []string
	for name, text := range tree(t, root) {
		if text == "/" {
			folders = append(folders, name)
		} else {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	slices.Sort(folders)
	folders = append(folders, ".")
	in := filepath.Join(root, folders[r.IntN(len(folders))])
	fresh := filepath.Join(in, fmt.Sprintf("new%d", r.IntN(1000)))
	if len(files) == 0 {
		must(t, os.WriteFile(fresh, []byte("new"), 0o644))
		return
	}
	name := files[r.IntN(len(files))]
	old := filepath.Join(root, name)
	info, err := os.Lstat(old)
	must(t, err)
	plain := info.Mode().IsRegular()
	n := r.IntN(13)
	if n == 4 || n == 6 || n == 8 || plain && n != 0 && n != 1 && n != 5 && n != 10 && n != 12 {
		touched[name] = true
	}
	switch {
	case n == 0:
		must(t, os.WriteFile(fresh, []byte("new"), 0o644))
	case n == 1:
		_ = os.Mkdir(fresh, 0o755)
	case n == 2 && plain: // in place, as long as before
		f, err := os.OpenFile(old, os.O_RDWR, 0)
		must(t, err)
		_, err = f.WriteAt([]byte("X")[:min(1, info.Size())], 0)
		must(t, errors.Join(err, os.Chtimes(old, info.ModTime(), info.ModTime()), f.Close()))
	case n == 3 && plain: // by a rename
		must(t, os.WriteFile(old+".tmp", []byte("saved"), 0o644))
		must(t, os.Rename(old+".tmp", old))
	case n == 4:
		must(t, os.Remove(old))
	case n == 5 && len(folders) > 1:
		must(t, os.RemoveAll(filepath.Join(root, folders[0])))
	case n == 6:
		must(t, os.Rename(old, fresh))
	case n == 7 && plain:
		must(t, os.Chmod(old, info.Mode()^0o111))
	case n == 8:
		must(t, os.Remove(old))
		must(t, os.Symlink("elsewhere", old))
	case n == 9 && plain:
		must(t, os.Chtimes(old, time.Now(), time.Now()))
	case n == 10 && plain:
		touched[name] = os.Link(old, fresh) == nil || touched[name]
	case n == 11 && plain: // the same again
		text, err := os.ReadFile(old)
		must(t, errors.Join(err, os.Remove(old), os.WriteFile(old, text, info.Mode())))
	case n == 12 && in != root:
		_ = os.Rename(in, in+"-moved")
	}
}

// leftOver returns the expected content of a folder after an attempt: entries that did not exist at
// its start, or were touched.
func leftOver(start, now map[string]string, touched map[string]bool) map[string]string {
	left := map[string]string{}
	for name, text := range now {
		if _, have := start[name]; !have || touched[name] {
			left[name] = text
		}
	}
	for name := range left { // folders that hold something stay
		for above := path.Dir(name); above != "."; above = path.Dir(above) {
			left[above] = "/"
		}
	}
	return left
}

// restored returns a project beside what an earlier attempt left.
func restored(project, before map[string]string) map[string]string {
	all := map[string]string{}
	for name, text := range project {
		hidden := false
		for above := path.Dir(name); above != "."; above = path.Dir(above) {
			own, have := before[above]
			hidden = hidden || have && own != "/"
		}
		if !hidden {
			all[name] = text
		}
	}
	for name, text := range before {
		all[name] = text
	}
	return all
}
