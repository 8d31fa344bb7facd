package filesync

import (
	"path"
	"strings"

	"mlframework/projects"
)

// choose returns a function that reports whether an entry of what a host offers is wanted: what patterns name, what links among that
// lead to, and the folders of both. No patterns want everything.
func choose(patterns []string, offered []projects.Entry) func(projects.Entry) bool {
	if len(patterns) == 0 {
		return func(projects.Entry) bool { return true }
	}
	named := projects.Selection(patterns)
	kinds := make(map[string]projects.Entry, len(offered))
	var found []projects.Entry
	for _, e := range offered {
		kinds[e.Path] = e
		if _, below, in := strings.Cut(e.Path, "/"); in && e.Kind != projects.Dir && named(below) {
			found = append(found, e)
		}
	}
	wanted := map[string]bool{}
	for len(found) > 0 {
		e := found[0]
		found = found[1:]
		for at := e.Path; at != "." && !wanted[at]; at = path.Dir(at) {
			wanted[at] = true
		}
		if e.Kind != projects.Symlink {
			continue
		}
		to := path.Join(path.Dir(e.Path), e.Link)
		target, there := kinds[to]
		switch {
		case !there || wanted[to] && target.Kind != projects.Dir:
		case target.Kind != projects.Dir:
			found = append(found, target)
		default:
			for _, in := range offered {
				if strings.HasPrefix(in.Path, to+"/") && !wanted[in.Path] && in.Kind != projects.Dir {
					found = append(found, in)
				}
			}
		}
	}
	return func(e projects.Entry) bool { return wanted[e.Path] }
}
