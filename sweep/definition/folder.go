package definition

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"mlframework/sweep/fault"
)

// projectPaths returns a list of files and folders of the project, each there once.
func (r *reader) projectPaths(v value) (paths []string) {
	for _, e := range r.words(v) {
		p := r.projectPath(e, "file or folder")
		switch {
		case p == "":
		case p == ".":
			r.Fault(e, "is the whole project", "name files and folders of it")
		case slices.Contains(paths, p):
			r.Fault(e, fault.Quote(p)+" is there twice", "remove one")
		case r.there(e, p, false):
			paths = append(paths, p)
		}
	}
	return paths
}

// there reports whether the project has a path, and is a fault otherwise.
func (r *reader) there(v value, name string, folder bool) bool {
	if r.project == "" {
		return true
	}
	info, err := os.Stat(filepath.Join(r.project, filepath.FromSlash(name)))
	what := "file or folder"
	if folder {
		what = "folder"
	}
	switch {
	case err == nil && (info.IsDir() || !folder):
		return true
	case err == nil:
		r.Fault(v, fault.Quote(name)+" is a file, not a folder", "name a folder of the project")
		return false
	}
	remedy := "name one of the project"
	if near := r.nearest(name); near != "" {
		remedy = fmt.Sprintf("did you mean %q?", near)
	}
	r.Fault(v, fmt.Sprintf("the project has no %s %s", what, fault.Quote(name)), remedy)
	return false
}

// nearest returns a path in the folder of another that is written nearly like it.
func (r *reader) nearest(name string) string {
	entries, _ := os.ReadDir(filepath.Join(r.project, filepath.FromSlash(path.Dir(name))))
	known := make([]string, len(entries))
	for i, e := range entries {
		known[i] = e.Name()
	}
	near := fault.Nearest(path.Base(name), known)
	if near == "" {
		return ""
	}
	return path.Join(path.Dir(name), near)
}

// checkPaths refuses a path that is to be linked and copied.
func (r *reader) checkPaths(f *File, copied value) {
	for i, p := range f.Copy {
		if slices.Contains(f.Link, p) {
			r.Fault(r.Value(copied.Content[min(i, len(copied.Content)-1)], copied.Path, ""),
				fault.Quote(p)+" is in link too", "remove one")
		}
	}
}

func readLinks(r *reader, f *File, v value) {
	entries, _ := r.Mapping(v)
	for _, e := range entries {
		target, ok := r.Word(e.Value)
		name := path.Clean(e.Name)
		switch {
		case !ok:
		case e.Name == "" || name == "." || !filepath.IsLocal(filepath.FromSlash(name)):
			r.Fault(e.Key, fault.Quote(e.Name)+" is outside the task's folder",
				"write a path in it, such as links: {data: /data/mnist}")
		case !path.IsAbs(target) || path.Clean(target) == "/":
			r.Fault(e.Value, "the target "+fault.Quote(target)+" is not an absolute path below /",
				"begin it with /, as on the host")
		case slices.ContainsFunc(f.Links, func(l HostLink) bool { return l.Path == name }):
			r.Fault(e.Key, "is there twice", "remove one")
		default:
			f.Links = append(f.Links, HostLink{Path: name, Target: path.Clean(target)})
		}
	}
}

func readWorkdir(r *reader, t *Task, v value) {
	if dir := r.projectPath(v, "folder"); dir != "" && dir != "." && r.there(v, dir, true) {
		t.Workdir = dir
	}
}
