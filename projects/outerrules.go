package projects

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// above is the rules of git in the folders above the project, up to the root of the repository that
// it lies in. Where they leave out the project's own folder they do not count: whoever names that
// folder wants what is in it.
func (w *walk) above() (rules scope) {
	folders := foldersAbove(w.root)
	if len(folders) > 0 {
		top := folders[len(folders)-1]
		rules.tracks = trackedIn(top, pathBetween(top, w.root)+"/", "")
	}
	for i, folder := range slices.Backward(folders) { // from the repository's root down
		file := strings.Repeat("../", i+1) + gitRules
		below := pathBetween(folder, w.root) + "/"
		info, err := os.Lstat(filepath.Join(folder, gitRules))
		if err == nil && info.Mode().IsRegular() {
			if parsed, ok := w.readRules(file); ok {
				rules = rules.with(gitRules, ruleSet{file: file, below: below, rules: parsed})
			}
		}
		if rules.leavesOutProject(i) {
			return scope{tracks: rules.tracks}
		}
	}
	return rules
}

// leavesOutProject reports whether the rules leave out the folder on the way to the project that
// lies in the folder i above it; 0 is the project itself. Those above that folder they have not
// left out.
func (s scope) leavesOutProject(i int) bool {
	for _, set := range slices.Backward(s.git) {
		parts := strings.Split(strings.TrimSuffix(set.below, "/"), "/")
		way := strings.Join(parts[:len(parts)-i], "/")
		set.below = ""
		if r, found := set.last(way, true); found {
			return !r.negated
		}
	}
	return false
}

// foldersAbove lists the folders above root, the nearest first, up to the first that holds a .git;
// none when there is no such folder, or root holds one itself.
func foldersAbove(root string) (folders []string) {
	for dir := root; ; {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return folders
		}
		up := filepath.Dir(dir)
		if up == dir {
			return nil
		}
		dir = up
		folders = append(folders, dir)
	}
}

// pathBetween is the slash-separated path from a folder to one below it.
func pathBetween(folder, below string) string {
	relative, err := filepath.Rel(folder, below)
	if err != nil { // both are absolute: it cannot be
		return below
	}
	return filepath.ToSlash(relative)
}
