package folder

import (
	"container/heap"
	"path"
	"slices"
)

// bigFile is the size in bytes above which a file is considered on its own: the other files of a
// folder with one large file of weights are still copied.
const bigFile = 8 << 20

// maxSource is the maximum size of a source file in bytes.
const maxSource = 1 << 20

// sourceSuffixes are the suffixes of programs. They are linked last, because programs locate their
// own folder by their path.
var sourceSuffixes = []string{".py", ".pyx", ".ipynb", ".sh", ".bash", ".r", ".R", ".jl", ".lua",
	".pl", ".rb", ".js", ".ts", ".m",
	".c", ".cc", ".cpp", ".cu", ".h", ".hpp", ".go", ".rs"}

func isSource(n *node) bool {
	return n.Size <= maxSource && (n.Executable ||
		slices.Contains(sourceSuffixes, path.Ext(n.name)))
}

// chooseLinks turns copies into links until the copies are within the limits, and links to files
// into links to folders until the links are.
func chooseLinks(root *node, l Limits) {
	walk(root, func(n *node) {
		if n.Kind == File && n.rule == linkRule {
			n.method = methodLink
		}
	})
	bytes := func(n *node) int64 { return n.Size }
	one := func(*node) int64 { return 1 }
	for _, limit := range []struct {
		most   int64
		weight func(*node) int64
	}{{l.Bytes, bytes}, {int64(l.Files), one}} {
		for _, source := range []bool{false, true} {
			over := -limit.most
			walk(root, func(n *node) {
				if n.method == methodCopy && n.rule != copyRule {
					over += limit.weight(n)
				}
			})
			convertToLinks(root, over, func(n *node) int64 {
				if n.method != methodCopy || n.rule == copyRule || isSource(n) != source {
					return 0
				}
				return limit.weight(n)
			})
		}
	}
	mergeLinks(root, l.Links)
}

func walk(n *node, f func(*node)) {
	for _, c := range n.children {
		f(c)
		walk(c, f)
	}
}

// candidate is what becomes links together: a folder with everything below it, or some files of one
// folder.
type candidate struct {
	folder *node // nil: files
	files  []*node
	weight int64
}

// candidateHeap is a heap of candidates, the heaviest first.
type candidateHeap []candidate

func (h candidateHeap) Len() int           { return len(h) }
func (h candidateHeap) Less(i, j int) bool { return h[i].weight > h[j].weight }
func (h candidateHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *candidateHeap) Push(x any)        { *h = append(*h, x.(candidate)) }
func (h *candidateHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// setWeights sets the weight of every folder to that of the files below it.
func setWeights(n *node, weight func(*node) int64) int64 {
	n.weight = 0
	for _, c := range n.children {
		if c.Kind == Dir {
			n.weight += setWeights(c, weight)
		} else {
			c.weight = weight(c)
			n.weight += c.weight
		}
	}
	return n.weight
}

// candidatesIn returns the candidates in a folder: its folders, each of its big files, and its
// other files together.
func candidatesIn(n *node) (all candidateHeap) {
	rest := candidate{}
	for _, c := range n.children {
		switch {
		case c.weight == 0:
		case c.Kind == Dir:
			all = append(all, candidate{folder: c, weight: c.weight})
		case c.Size > bigFile:
			all = append(all, candidate{files: []*node{c}, weight: c.weight})
		default:
			rest.files = append(rest.files, c)
			rest.weight += c.weight
		}
	}
	if rest.weight > 0 {
		all = append(all, rest)
	}
	return all
}

// convertToLinks turns files into links, the heaviest candidate first, until they weigh over less.
func convertToLinks(root *node, over int64, weight func(*node) int64) {
	if over <= 0 || setWeights(root, weight) == 0 {
		return
	}
	convert(candidatesIn(root), over, candidatesIn, func(u candidate) (saved int64) {
		files := u.files
		if u.folder != nil {
			walk(u.folder, func(n *node) {
				if n.Kind != Dir && n.weight > 0 {
					files = append(files, n)
				}
			})
		}
		for _, n := range files {
			n.method = methodLink
		}
		return u.weight
	})
}

// mergeLinks turns folders whose files are all links into one link each, the largest first, until
// there are at most most links.
func mergeLinks(root *node, most int) {
	links := setWeights(root, func(n *node) int64 {
		if n.method == methodLink {
			return 1
		}
		return 0
	})
	convert(foldersIn(root), links-int64(most), foldersIn, func(u candidate) (saved int64) {
		if !canBeLink(u.folder) {
			return 0
		}
		u.folder.method = methodLink
		return u.weight - 1
	})
}

// convert turns candidates into links, the heaviest first, until the links save over. If a folder
// is heavy because of one part, or cannot be converted as a whole (which saves nothing), its parts
// are candidates instead.
func convert(all candidateHeap, over int64, partsOf func(*node) candidateHeap,
	link func(candidate) (saved int64)) {
	heap.Init(&all)
	for over > 0 && len(all) > 0 {
		u := heap.Pop(&all).(candidate)
		var parts candidateHeap
		if u.folder != nil {
			parts = partsOf(u.folder)
		}
		saved := int64(0)
		if !slices.ContainsFunc(parts, func(p candidate) bool { return p.weight*2 > u.weight }) {
			saved = link(u)
		}
		if over -= saved; saved > 0 {
			continue
		}
		for _, p := range parts {
			heap.Push(&all, p)
		}
	}
}

// foldersIn returns the folders in a folder that contain links.
func foldersIn(n *node) candidateHeap {
	return slices.DeleteFunc(candidatesIn(n), func(c candidate) bool { return c.folder == nil })
}

// canBeLink reports whether a folder can be one link.
func canBeLink(n *node) bool {
	if n.mustBeFolder || n.method == methodHostLink || n.method == methodCopy {
		return false
	}
	return !slices.ContainsFunc(n.children, func(c *node) bool { return !canBeLink(c) })
}
