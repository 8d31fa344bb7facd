package folder

import (
	"cmp"
	"path"
	"slices"
)

// Limits bound what is copied.
type Limits struct {
	File  int64 // bytes of a file; larger ones are links
	Bytes int64 // of all copies; beyond it, the files of the largest folders are links
	Files int   // number of files, folders and links; beyond it, whole folders are links
}

// LimitsOf returns the limits for a file system. If it clones files, sizes are not limited, because
// a copy takes no space and almost no time.
func LimitsOf(clones bool) Limits {
	l := Limits{File: 16 << 20, Bytes: 256 << 20, Files: 20_000}
	if clones {
		l.File, l.Bytes = 1<<62, 1<<62
	}
	return l
}

// maxSource is the maximum size of a source file in bytes.
const maxSource = 1 << 20

// sourceSuffixes are the suffixes of source files. linkFiles never links them, and folders that
// contain them are linked last, because programs locate their own folder by their path.
var sourceSuffixes = []string{".py", ".pyx", ".ipynb", ".sh", ".bash", ".r", ".R", ".jl", ".lua",
	".pl", ".rb", ".js", ".ts", ".m",
	".c", ".cc", ".cpp", ".cu", ".h", ".hpp", ".go", ".rs"}

func isSource(n *node) bool {
	return n.Kind == File && n.Size <= maxSource &&
		(n.Executable || slices.Contains(sourceSuffixes, path.Ext(n.name)))
}

// chooseLinks turns copies into links until the limits are met.
func chooseLinks(root *node, l Limits) {
	folders := []*node{root}
	var over int64
	walk(root, func(n *node) {
		switch {
		case n.Kind == Dir:
			folders = append(folders, n)
		case n.method != methodCopy || n.rule == copyRule:
		case n.rule == linkRule || n.Size > l.File:
			n.method = methodLink
		default:
			over += n.Size
		}
	})
	if over -= l.Bytes; over > 0 {
		linkFiles(folders, over)
	}
	if over := count(root) - int64(l.Files); over > 0 {
		for _, sources := range []bool{false, true} {
			for saved := int64(1); over > 0 && saved > 0; over -= saved {
				saved = linkFolder(root, sources)
			}
		}
	}
}

func walk(n *node, f func(*node)) {
	for _, c := range n.children {
		f(c)
		walk(c, f)
	}
}

// linkFiles turns the files of folders into links, the largest folder first, until the copies are
// smaller by over bytes. Source files stay copies.
func linkFiles(folders []*node, over int64) {
	data := func(n *node) bool {
		return n.method == methodCopy && n.rule != copyRule && !isSource(n)
	}
	for _, n := range folders {
		n.weight = 0
		for _, c := range n.children {
			if data(c) {
				n.weight += c.Size
			}
		}
	}
	slices.SortStableFunc(folders, func(a, b *node) int { return cmp.Compare(b.weight, a.weight) })
	for _, n := range folders {
		if over <= 0 || n.weight == 0 {
			return
		}
		for _, c := range n.children {
			if data(c) {
				c.method = methodLink
			}
		}
		over -= n.weight
	}
}

// count sets the weight of everything below n to its number of entries, and returns that of n.
func count(n *node) int64 {
	n.weight = 1
	for _, c := range n.children {
		n.weight += count(c)
	}
	return n.weight
}

// linkFolder turns the folder with the most entries below n into a single link. It returns the
// number of entries saved, 0 if no folder can be linked. If a folder has more than half of its
// entries in one of its folders, that one is linked instead. Folders with source files are linked
// only if sources is true.
func linkFolder(n *node, sources bool) (saved int64) {
	folders := slices.Clone(n.children)
	folders = slices.DeleteFunc(folders, func(c *node) bool {
		return c.method != methodDir || c.weight < 2
	})
	slices.SortStableFunc(folders, func(a, b *node) int { return cmp.Compare(b.weight, a.weight) })
	for _, f := range folders {
		whole := canBeLink(f, sources)
		if !whole || slices.ContainsFunc(f.children,
			func(c *node) bool { return c.method == methodDir && c.weight*2 > f.weight }) {
			saved = linkFolder(f, sources)
		}
		if saved == 0 && whole {
			f.method, saved = methodLink, f.weight-1
			f.weight = 1
		}
		if saved > 0 {
			n.weight -= saved
			return saved
		}
	}
	return 0
}

// canBeLink reports whether a folder can be one link.
func canBeLink(n *node, sources bool) bool {
	if n.mustBeFolder || n.method == methodHostLink || n.Kind == File && n.rule == copyRule ||
		!sources && n.method == methodCopy && isSource(n) {
		return false
	}
	return !slices.ContainsFunc(n.children, func(c *node) bool { return !canBeLink(c, sources) })
}
