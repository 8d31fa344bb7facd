package filesync

import (
	"context"
	"path"
	"strings"

	"mlframework/projects"
)

// choose returns a function that reports whether an entry of what a host offers is wanted: what
// patterns name, what links among that lead to, through whichever links, and the folders of both.
// No patterns want everything.
func choose(
	ctx context.Context, patterns []string, offered []Output,
) (func(Output) bool, error) {
	if len(patterns) == 0 {
		return func(Output) bool { return true }, nil
	}
	named := projects.Selection(patterns)
	s := selection{offered: offered, places: make(map[string]int, len(offered)),
		wanted: map[string]bool{}}
	within := map[string][]int{} // what lies in a folder; its folders, too
	var found []int
	for i, e := range offered {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.places[e.Path] = i
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
	seen := map[int]bool{}
	for len(found) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		i := found[len(found)-1]
		found = found[:len(found)-1]
		if seen[i] {
			continue
		}
		seen[i] = true
		e := offered[i]
		if e.Kind == projects.Dir {
			found = append(found, within[e.Path]...)
			continue
		}
		s.want(e.Path)
		if e.Kind != projects.Symlink {
			continue
		}
		if target, there := s.follow(e); there {
			found = append(found, target)
		}
	}
	return func(e Output) bool { return s.wanted[e.Path] }, nil
}

// A selection is what is wanted of an offer.
type selection struct {
	offered []Output
	places  map[string]int // in offered, by path
	wanted  map[string]bool
}

// want wants a path and its folders.
func (s *selection) want(name string) {
	for ; name != "." && !s.wanted[name]; name = path.Dir(name) {
		s.wanted[name] = true
	}
}

// maxHops is how many links lead to a target at most, as in Linux.
const maxHops = 40

// follow returns the place of what a link leads to, and wants the links on the way there. There is
// nothing behind a link that is not fetched, as it may lead out of its task's folder, nor where
// links lead in a circle.
func (s *selection) follow(link Output) (target int, there bool) {
	if !staysBelow(link.Entry) {
		return 0, false
	}
	at, rest := path.Dir(link.Path), link.Link
	for hops := 1; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		at = path.Join(at, name)
		if target, there = s.places[at]; !there {
			return 0, false
		}
		if link = s.offered[target]; link.Kind != projects.Symlink {
			continue
		}
		if hops++; hops > maxHops || !staysBelow(link.Entry) {
			return 0, false
		}
		s.want(at)
		at, rest = path.Dir(at), link.Link+"/"+rest
	}
	return target, there
}
