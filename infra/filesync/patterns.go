package filesync

import (
	"context"
	"path"
	"strings"

	"mlframework/projects"
)

// choose returns a function that reports whether an entry of what a host offers is wanted: what patterns name, what links among that
// lead to, and the folders of both. No patterns want everything.
func choose(ctx context.Context, patterns []string, offered []projects.Entry) (func(projects.Entry) bool, error) {
	if len(patterns) == 0 {
		return func(projects.Entry) bool { return true }, nil
	}
	named := projects.Selection(patterns)
	places := make(map[string]int, len(offered)) // in offered, by path
	within := map[string][]int{}                 // what lies in a folder; its folders, too
	var found []int
	for i, e := range offered {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		places[e.Path] = i
		_, below, in := strings.Cut(e.Path, "/")
		if !in {
			continue
		}
		folder := path.Dir(e.Path)
		within[folder] = append(within[folder], i)
		if e.Kind != projects.Dir && named(below) {
			found = append(found, i)
		}
	}
	wanted := map[string]bool{}
	opened := map[string]bool{} // folders of which everything is wanted
	for len(found) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e := offered[found[len(found)-1]]
		found = found[:len(found)-1]
		if e.Kind == projects.Dir {
			if !opened[e.Path] {
				opened[e.Path] = true
				found = append(found, within[e.Path]...)
			}
			continue
		}
		if wanted[e.Path] {
			continue
		}
		for at := e.Path; at != "." && !wanted[at]; at = path.Dir(at) {
			wanted[at] = true
		}
		if e.Kind != projects.Symlink {
			continue
		}
		if target, there := places[path.Join(path.Dir(e.Path), e.Link)]; there {
			found = append(found, target)
		}
	}
	return func(e projects.Entry) bool { return wanted[e.Path] }, nil
}
