package tail

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// maxDepth is how many folders ** goes down.
const maxDepth = 32

// glob lists the files of a pattern, in the order in which they count.
func (f *Folder) glob(s *source) []string {
	g := globbing{root: f.root, entriesLeft: maxEntries}
	g.walk(".", strings.Split(s.pattern, "/"), 0)
	f.full = f.full || g.entriesLeft <= 0
	s.outsideLink = g.outsideLink
	slices.SortFunc(g.found, compare)
	return slices.DeleteFunc(slices.Compact(g.found), func(path string) bool {
		return path == recordFile
	})
}

type globbing struct {
	root        rootedFolder
	entriesLeft int // entries of folders
	found       []string
	outsideLink string // a link that leads out of the folder
}

// walk goes down from a folder by what is left of a pattern.
func (g *globbing) walk(dir string, parts []string, depth int) {
	part, rest := parts[0], parts[1:]
	if !strings.ContainsAny(part, `*?[\`) {
		at := path.Join(dir, part)
		info, err := g.stat(at)
		switch {
		case err != nil:
		case len(rest) == 0 && !info.IsDir():
			g.found = append(g.found, at)
		case len(rest) > 0 && info.IsDir():
			g.walk(at, rest, depth)
		}
		return
	}
	if part == "**" && len(rest) > 0 {
		g.walk(dir, rest, depth)
	}
	for _, e := range g.entries(dir) {
		at := path.Join(dir, e.Name())
		switch {
		case part == "**" && e.IsDir() && depth < maxDepth:
			g.walk(at, parts, depth+1)
		case part == "**" && len(rest) == 0 && !e.IsDir():
			g.found = append(g.found, at)
		case part == "**":
		case !match(part, e.Name()):
		case len(rest) == 0 && !e.IsDir():
			g.found = append(g.found, at)
		case len(rest) > 0 && (e.IsDir() || e.Type()&fs.ModeSymlink != 0):
			if info, err := g.stat(at); err == nil && info.IsDir() {
				g.walk(at, rest, depth)
			}
		}
	}
}

func (g *globbing) stat(path string) (fs.FileInfo, error) {
	info, err := g.root.stat(path)
	if errors.Is(err, errOut) {
		g.outsideLink = path
	}
	return info, err
}

func match(part, name string) bool {
	ok, err := path.Match(part, name)
	return ok && err == nil
}

func (g *globbing) entries(dir string) []fs.DirEntry {
	d, err := g.root.open(dir)
	if err != nil || g.entriesLeft <= 0 {
		return nil
	}
	defer d.Close()
	all, _ := d.ReadDir(g.entriesLeft)
	g.entriesLeft -= len(all) + 1
	return all
}

// matches reports whether a path is one of a pattern.
func matches(pattern, name string) bool {
	return matchParts(strings.Split(pattern, "/"), strings.Split(name, "/"))
}

func matchParts(pattern, name []string) bool {
	switch {
	case len(pattern) == 0:
		return len(name) == 0
	case pattern[0] == "**":
		for skip := range len(name) + 1 {
			if matchParts(pattern[1:], name[skip:]) {
				return true
			}
		}
		return false
	case len(name) == 0:
		return false
	}
	return match(pattern[0], name[0]) && matchParts(pattern[1:], name[1:])
}
