package folder

import (
	"container/heap"
	"path"
	"slices"
)

// bigFile is the size above which a file is chosen for itself, in bytes: a folder with one large file of weights keeps
// copies of the others.
const bigFile = 8 << 20

// biggestSource is the size above which nothing is taken for a program, in bytes.
const biggestSource = 1 << 20

// sourceSuffixes are those of programs. They stay copies as long as can be: a program finds its own folder by where it is.
var sourceSuffixes = []string{".py", ".pyx", ".ipynb", ".sh", ".bash", ".r", ".R", ".jl", ".lua", ".pl", ".rb", ".js", ".ts", ".m",
	".c", ".cc", ".cpp", ".cu", ".h", ".hpp", ".go", ".rs"}

func isSource(n *node) bool {
	return n.Size <= biggestSource && (n.Executable || slices.Contains(sourceSuffixes, path.Ext(n.name)))
}

// decide turns copies into links until what is copied fits the limits, and links to files into links to folders until
// those do.
func decide(root *node, l Limits) {
	each(root, func(n *node) {
		if n.Kind == File && n.rule == linkRule {
			n.how = linkToIt
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
			each(root, func(n *node) {
				if n.how == copyFile && n.rule != copyRule {
					over += limit.weight(n)
				}
			})
			giveWay(root, over, func(n *node) int64 {
				if n.how != copyFile || n.rule == copyRule || isSource(n) != source {
					return 0
				}
				return limit.weight(n)
			})
		}
	}
	joinLinks(root, l.Links)
}

func each(n *node, f func(*node)) {
	for _, c := range n.children {
		f(c)
		each(c, f)
	}
}

// unit is what gives way together: a folder with all below it, or some files of one folder.
type unit struct {
	folder *node // nil: files
	files  []*node
	weight int64
}

// units is a heap, the heaviest first.
type units []unit

func (u units) Len() int           { return len(u) }
func (u units) Less(i, j int) bool { return u[i].weight > u[j].weight }
func (u units) Swap(i, j int)      { u[i], u[j] = u[j], u[i] }
func (u *units) Push(x any)        { *u = append(*u, x.(unit)) }
func (u *units) Pop() any {
	last := len(*u) - 1
	x := (*u)[last]
	*u = (*u)[:last]
	return x
}

// weigh sets the weight of every folder to that of the files below it.
func weigh(n *node, weight func(*node) int64) int64 {
	n.weight = 0
	for _, c := range n.children {
		if c.Kind == Dir {
			n.weight += weigh(c, weight)
		} else {
			c.weight = weight(c)
			n.weight += c.weight
		}
	}
	return n.weight
}

// parts are the units that a folder is made of: its folders, its big files, and its other files together.
func parts(n *node) (all []unit) {
	rest := unit{}
	for _, c := range n.children {
		switch {
		case c.weight == 0:
		case c.Kind == Dir:
			all = append(all, unit{folder: c, weight: c.weight})
		case c.Size > bigFile:
			all = append(all, unit{files: []*node{c}, weight: c.weight})
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

// giveWay turns files into links, the heaviest unit first, until they weigh over less. A folder that is heavy because of one
// part is not taken as a whole: only that part is.
func giveWay(root *node, over int64, weight func(*node) int64) {
	if over <= 0 || weigh(root, weight) == 0 {
		return
	}
	all := units(parts(root))
	heap.Init(&all)
	for over > 0 && len(all) > 0 {
		u := heap.Pop(&all).(unit)
		if u.folder != nil {
			if inner := parts(u.folder); slices.ContainsFunc(inner, func(p unit) bool { return p.weight*2 > u.weight }) {
				for _, p := range inner {
					heap.Push(&all, p)
				}
				continue
			}
			each(u.folder, func(n *node) {
				if n.Kind != Dir && n.weight > 0 {
					n.how = linkToIt
				}
			})
		}
		for _, n := range u.files {
			n.how = linkToIt
		}
		over -= u.weight
	}
}

// joinLinks makes folders whose files are all links one link, the largest first, until there are no more than most links.
func joinLinks(root *node, most int) {
	over := -int64(most)
	each(root, func(n *node) {
		if n.how == linkToIt {
			over++
		}
	})
	if over <= 0 {
		return
	}
	weigh(root, func(n *node) int64 {
		if n.how == linkToIt {
			return 1
		}
		return 0
	})
	all := folders(root)
	heap.Init(&all)
	for over > 0 && len(all) > 0 {
		u := heap.Pop(&all).(unit)
		inner := folders(u.folder)
		one := slices.ContainsFunc(inner, func(p unit) bool { return p.weight*2 > u.weight })
		if one || !onlyLinks(u.folder) {
			for _, p := range inner {
				heap.Push(&all, p)
			}
			continue
		}
		u.folder.how = linkToIt
		over -= u.weight - 1
	}
}

// folders are the folders in a folder that hold links.
func folders(n *node) (all units) {
	for _, c := range n.children {
		if c.Kind == Dir && c.weight > 0 {
			all = append(all, unit{folder: c, weight: c.weight})
		}
	}
	return all
}

// onlyLinks reports whether a folder can be one link.
func onlyLinks(n *node) bool {
	if n.real || n.how == linkToHost || n.how == copyFile {
		return false
	}
	return !slices.ContainsFunc(n.children, func(c *node) bool { return !onlyLinks(c) })
}
