package folder

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// Kind is the kind of a project's entry.
type Kind uint8

// The kinds of entries.
const (
	Dir Kind = iota
	File
	Symlink
)

// Entry is one file, folder or symbolic link of a project.
type Entry struct {
	// relative to the project, slash separated
	Path       string
	Kind       Kind
	Size       int64 // of a file, in bytes
	Executable bool
	ModTime    time.Time
	Target     string // of a symbolic link
}

// method is how an item gets into a folder.
type method uint8

const (
	methodDir      method = iota // an empty folder, for the items below it
	methodCopy                   // the file's content
	methodLink                   // a symbolic link to the file or folder in the snapshot
	methodKeepLink               // a symbolic link of the project, as it is
	methodHostLink               // a symbolic link to a path of the host
)

// item is one entry to make in a folder.
type item struct {
	Entry
	method method
	name   string // the last element of Path
	// index after the last item below this one
	end int
}

// A Plan describes how a folder is made from a project's files. It is immutable.
type Plan struct {
	items   []item // a folder stands before what it holds, and what it holds directly behind it
	workdir string
	Copied  Amount
	Linked  []Part // what is linked, largest first; a folder whose files are all linked is one part
	Host    []HostLink
	Hidden  []Part // what has the name of an output: folders are made empty, and files are not made
}

// HostLink is a link to a path of the host.
type HostLink struct{ Path, Target string }

// A Problem is a rule that does not match the project's files.
type Problem struct {
	Key  string // of tasks.yml
	Path string
	Text string
}

func (p Problem) Error() string { return fmt.Sprintf("%s: %s: %s", p.Key, p.Path, p.Text) }

// node is a node of the tree from which a plan is made.
type node struct {
	Entry
	name   string
	method method
	rule   pathRule
	// must not become a link
	mustBeFolder bool
	children     []*node
	// used while links are chosen
	weight int64
}

// NewPlan returns the plan for entries in any order. Folders above an entry need not be among the
// entries. The plan is usable despite problems, except those of the keys workdir and links.
func NewPlan(entries []Entry, r Rules, l Limits) (*Plan, []Problem) {
	root := &node{mustBeFolder: true}
	nodes := map[string]*node{"": root, ".": root}
	for _, e := range slices.SortedFunc(slices.Values(entries),
		func(a, b Entry) int { return strings.Compare(a.Path, b.Path) }) {
		addNode(nodes, e)
	}
	hidden, problems := r.apply(nodes)
	sortTree(root)
	chooseLinks(root, l)
	p := &Plan{workdir: r.Workdir, Hidden: hidden}
	p.flatten(root)
	p.summarize(root)
	return p, problems
}

// addNode puts an entry into the tree, with the folders above it.
func addNode(nodes map[string]*node, e Entry) *node {
	if n := nodes[e.Path]; n != nil {
		return n
	}
	above := path.Dir(e.Path)
	if nodes[above] == nil {
		addNode(nodes, Entry{Path: above, Kind: Dir})
	}
	n := &node{Entry: e, name: path.Base(e.Path)}
	switch e.Kind {
	case File:
		n.method = methodCopy
	case Symlink:
		n.method = methodKeepLink
	}
	nodes[e.Path] = n
	nodes[above].children = append(nodes[above].children, n)
	return n
}

func sortTree(n *node) {
	slices.SortFunc(n.children, func(a, b *node) int { return cmp.Compare(a.name, b.name) })
	for _, c := range n.children {
		sortTree(c)
	}
}

// flatten lists the tree below n.
func (p *Plan) flatten(n *node) {
	for _, c := range n.children {
		at := len(p.items)
		p.items = append(p.items, item{Entry: c.Entry, method: c.method, name: c.name})
		if c.method == methodDir {
			p.flatten(c)
		}
		p.items[at].end = len(p.items)
	}
}
