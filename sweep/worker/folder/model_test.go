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

// change does something to a task's folder that a program might do. In one that is only watched no
// file gets another name: see TestAnotherNameOfAFileIsSeen.
func change(t testing.TB, r *rand.Rand, root string, watched bool) {
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
	old := filepath.Join(root, files[r.IntN(len(files))])
	info, err := os.Lstat(old)
	must(t, err)
	plain := info.Mode().IsRegular()
	switch n := r.IntN(14); {
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
	case n == 10 && plain && !watched:
		_ = os.Link(old, fresh)
	case n == 11 && plain: // the same again
		text, err := os.ReadFile(old)
		must(t, errors.Join(err, os.Remove(old), os.WriteFile(old, text, info.Mode())))
	case n == 12 && in != root:
		_ = os.Rename(in, in+"-moved")
	case n == 13:
		must(t, os.MkdirAll(filepath.Join(in, "__pycache__"), 0o755))
		must(t, os.WriteFile(filepath.Join(in, "__pycache__/x.pyc"), []byte("compiled"), 0o644))
	}
}

// inCache reports whether a path is a cache of compiled programs or in one, and what folder that is
// in.
func inCache(name string) (above string, cached bool) {
	before, _, cached := strings.Cut("/"+name+"/", "/__pycache__/")
	return strings.TrimPrefix(before, "/"), cached
}

// leftOver returns what is to be left of a folder: without what is as in the project, and without
// caches of compiled programs in its folders.
func leftOver(project, now map[string]string) map[string]string {
	left := map[string]string{}
	for name, text := range now {
		if above, cached := inCache(name); cached && (above == "" || project[above] == "/") {
			continue
		}
		if own, have := project[name]; have && own == text {
			continue
		}
		left[name] = text
	}
	for name := range left { // folders that hold something stay
		for above := path.Dir(name); above != "."; above = path.Dir(above) {
			left[above] = "/"
		}
	}
	return left
}

// withoutCaches leaves out caches of compiled programs, which a copy may have.
func withoutCaches(all map[string]string) map[string]string {
	for name := range all {
		if _, cached := inCache(name); cached {
			delete(all, name)
		}
	}
	return all
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
