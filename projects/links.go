package projects

import (
	"os"
	"path"
	"slices"
	"strings"
)

// maxHops is how many links are followed, as in Linux.
const maxHops = 40

// stays reports whether the link at path leads to something in the project, be it there or not, and
// gives the target to recreate it with: relative, so that a copy's link leads into the copy. It
// reads links on the way as the system would, so one that leaves through another is found.
func (w *walk) stays(link, target string) (inside string, ok bool) {
	at := components(path.Dir(link))
	inside = target
	if path.IsAbs(target) {
		within, ok := w.within(target)
		if !ok {
			return "", false
		}
		inside = path.Join(strings.Repeat("../", len(at)), within)
	}
	return inside, resolver{w.readlink, w.within}.stays(at, components(inside))
}

// Stays reports whether the symbolic link at path leads to something in its tree, there or not.
// links are all of the tree's links, by path, with their targets: one that leaves through another
// is found. An absolute target leaves.
func Stays(path string, links map[string]string) bool {
	r := resolver{
		readlink: func(path string) (string, bool) { target, ok := links[path]; return target, ok },
		within:   func(string) (string, bool) { return "", false },
	}
	return r.stays(nil, components(path))
}

// A resolver follows paths of a tree as the system would.
type resolver struct {
	readlink func(path string) (target string, link bool)
	// within cuts the tree's folder from an absolute target in it
	within func(target string) (inside string, ok bool)
}

// stays follows rest from the folder at, both as components, and reports whether it comes out in
// the tree. A link that leads through itself comes out nowhere, and stays. What takes more links
// than the system follows does not: programs that resolve links themselves may follow more, and it
// is not known where they come out.
func (r resolver) stays(at, rest []string) bool {
	var inside []opened // the links whose targets rest begins with, the innermost last
	for hops := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		if part == ".." {
			if len(at) == 0 {
				return false
			}
			at = at[:len(at)-1]
			continue
		}
		name := path.Join(path.Join(at...), part)
		next, link := r.readlink(name)
		if !link { // or nothing at all: the way goes on by its name
			at = append(at, part)
			continue
		}
		for len(inside) > 0 && inside[len(inside)-1].behind > len(rest) {
			inside = inside[:len(inside)-1]
		}
		if slices.ContainsFunc(inside, func(o opened) bool { return o.link == name }) {
			return true
		}
		if hops++; hops > maxHops {
			return false
		}
		inside = append(inside, opened{name, len(rest)})
		if path.IsAbs(next) {
			within, ok := r.within(next)
			if !ok {
				return false
			}
			at, next = nil, within
		}
		rest = append(components(next), rest...)
	}
	return true
}

// opened is a link on the way, and how many components follow behind its target.
type opened struct {
	link   string
	behind int
}

// readlink reads a link of the project.
func (w *walk) readlink(path string) (target string, link bool) {
	target, err := os.Readlink(w.full(path))
	return target, err == nil
}

// within cuts the project's folder from an absolute path in it.
func (w *walk) within(target string) (string, bool) {
	for _, name := range w.names {
		rest, ok := strings.CutPrefix(target, strings.TrimSuffix(name, "/"))
		if ok && (rest == "" || rest[0] == '/') {
			return strings.TrimLeft(rest, "/"), true
		}
	}
	return "", false
}

// components splits a path, without what does not move.
func components(p string) []string {
	var parts []string
	for part := range strings.SplitSeq(p, "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	return parts
}
