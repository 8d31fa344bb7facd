package folder

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"mlframework/sweep/task"
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

// Rules are what a project specifies for the folders of its tasks. Paths are clean, relative and
// slash separated.
type Rules struct {
	// additional names that tasks create
	Outputs []string `json:"outputs,omitempty"`
	// linked, whatever the size
	Link []string `json:"link,omitempty"`
	// copied, whatever the size
	Copy  []string          `json:"copy,omitempty"`
	Links map[string]string `json:"links,omitempty"` // links to absolute paths of the host
	// written by the worker: it is not taken from the project
	File string `json:"file,omitempty"`
	// where the command runs; "" is the folder itself
	Workdir string `json:"workdir,omitempty"`
	// the sweep whose tasks share copies, one after another; tasks of other sweeps get none of them,
	// as a task may have left code in compiled modules, or hold a file open
	Sweep string `json:"sweep,omitempty"`
}

// RulesOf returns the rules of a recipe, for the tasks of any sweep.
func RulesOf(r task.Recipe) Rules {
	rules := Rules{Outputs: r.Outputs, Link: r.Link, Copy: r.Copy, Links: r.Links,
		Workdir: r.Workdir}
	if r.File != nil {
		rules.File = r.File.To
	}
	return rules
}

// outputNames are usual names of outputs. A folder with such a name is created empty, a file is
// omitted.
var outputNames = []string{"result", "results", "run", "runs", "log", "logs", "checkpoint",
	"checkpoints", "output", "outputs"}

// logNames are the output files of an attempt, and the file with its number.
var logNames = []string{"stdout.log", "stderr.log", ".attempt"}

// Output reports whether a path of the project is, or lies in, an output: tasks start without it.
func (r Rules) Output(p string) bool {
	for _, base := range []string{"", r.Workdir + "/"} {
		if below, is := strings.CutPrefix(p, base); is {
			name, _, _ := strings.Cut(below, "/")
			if slices.Contains(outputNames, name) || slices.Contains(r.Outputs, name) {
				return true
			}
		}
	}
	return false
}

// Limits bound what is copied and how many links are made.
type Limits struct {
	Bytes int64 // copied, in all
	Files int   // copied, in all
	Links int   // links to single files; above it folders become one link
}

// LimitsOf returns the limits for a file system: if it clones files, a copy takes no space and
// almost no time.
func LimitsOf(clones bool) Limits {
	l := Limits{Bytes: 64 << 20, Files: 4000, Links: 20_000}
	if clones {
		l.Bytes = 1 << 62
	}
	return l
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
	// index of the folder that holds it; -1 at the top
	parent int
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
}

// Amount is a number of files and their size in bytes.
type Amount struct {
	Files int
	Bytes int64
}

// Part is a linked file or folder.
type Part struct {
	Path   string // "" is the project's own folder
	Folder bool
	Partly bool // only some of the folder's files
	// a folder that is a single link, so that nothing can be written beside its files
	Whole bool
	Amount
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
	// of what may become links below it, during that decision
	weight int64
}

// pathRule is what tasks.yml specifies for a path.
type pathRule uint8

const (
	noRule pathRule = iota
	copyRule
	linkRule
)

// New returns the plan for entries in any order. Folders above an entry need not be among the
// entries. The plan is usable despite problems, except those of the keys workdir and links.
func New(entries []Entry, r Rules, l Limits) (*Plan, []Problem) {
	root := &node{mustBeFolder: true}
	nodes := map[string]*node{"": root, ".": root}
	for _, e := range slices.SortedFunc(slices.Values(entries),
		func(a, b Entry) int { return strings.Compare(a.Path, b.Path) }) {
		add(nodes, e)
	}
	problems := r.apply(nodes)
	sortTree(root)
	chooseLinks(root, l)
	p := &Plan{workdir: r.Workdir}
	p.flatten(root, -1)
	p.summarize(root)
	return p, problems
}

// add puts an entry into the tree, with the folders above it.
func add(nodes map[string]*node, e Entry) *node {
	if n := nodes[e.Path]; n != nil {
		return n
	}
	above := path.Dir(e.Path)
	if nodes[above] == nil {
		add(nodes, Entry{Path: above, Kind: Dir})
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

// apply brings the rules into the tree.
func (r Rules) apply(nodes map[string]*node) (problems []Problem) {
	for _, set := range []struct {
		key   string
		paths []string
		rule  pathRule
	}{{"link", r.Link, linkRule}, {"copy", r.Copy, copyRule}} {
		for _, p := range set.paths {
			if n := nodes[p]; n == nil {
				problems = append(problems, Problem{set.key, p,
					"the project has no such file or folder"})
			} else {
				n.rule = set.rule
			}
		}
	}
	inherit(nodes[""])
	empty(nodes[""], append(slices.Clone(logNames), r.Outputs...))
	empty(nodes[r.Workdir], r.Outputs)
	for _, p := range slices.Sorted(maps.Keys(r.Links)) {
		if f := firstFile(nodes, path.Dir(p)); f != "" {
			problems = append(problems, Problem{"links", p, f + " is not a folder"})
			continue
		}
		if above, n := nodes[path.Dir(p)], nodes[p]; above != nil && n != nil {
			above.children = slices.DeleteFunc(above.children, func(c *node) bool { return c == n })
			delete(nodes, p)
		}
		n := add(nodes, Entry{Path: p, Kind: Symlink, Target: r.Links[p]})
		n.method = methodHostLink
		keepFolder(nodes, path.Dir(p))
	}
	if r.File != "" {
		if f := firstFile(nodes, path.Dir(r.File)); f != "" {
			problems = append(problems, Problem{"file", r.File, f + " is not a folder"})
		} else if n := nodes[r.File]; n != nil && n.Kind == Dir {
			problems = append(problems, Problem{"file", r.File, "is a folder of the project"})
		} else if n != nil {
			above := nodes[path.Dir(r.File)]
			above.children = slices.DeleteFunc(above.children, func(c *node) bool { return c == n })
			delete(nodes, r.File)
		}
		keepFolder(nodes, path.Dir(r.File))
	}
	if r.Workdir == "" {
		return problems
	}
	if n := nodes[r.Workdir]; n == nil || n.Kind != Dir || !reachable(nodes, r.Workdir) {
		return append(problems, Problem{"workdir", r.Workdir, "the project has no such folder"})
	}
	keepFolder(nodes, r.Workdir)
	return problems
}

// inherit hands rules down: the nearest one above a file counts.
func inherit(n *node) {
	for _, c := range n.children {
		if c.rule == noRule {
			c.rule = n.rule
		}
		inherit(c)
	}
}

// empty hides what a folder holds under names of outputs.
func empty(n *node, names []string) {
	if n == nil {
		return
	}
	n.children = slices.DeleteFunc(n.children, func(c *node) bool {
		if !slices.Contains(names, c.name) && !slices.Contains(outputNames, c.name) {
			return false
		}
		c.children, c.mustBeFolder = nil, true
		return c.Kind != Dir
	})
}

// firstFile is the first on the way to a folder that is something else.
func firstFile(nodes map[string]*node, folder string) string {
	for p := folder; p != "." && p != "/"; p = path.Dir(p) {
		if n := nodes[p]; n != nil && n.Kind != Dir {
			return p
		}
	}
	return ""
}

// reachable reports whether a path still hangs in the tree.
func reachable(nodes map[string]*node, p string) bool {
	for ; p != "." && p != "/"; p = path.Dir(p) {
		if !slices.Contains(nodes[path.Dir(p)].children, nodes[p]) {
			return false
		}
	}
	return true
}

// keepFolder keeps a folder and those above it from becoming links.
func keepFolder(nodes map[string]*node, p string) {
	for ; p != "." && p != "/" && p != ""; p = path.Dir(p) {
		if n := nodes[p]; n != nil {
			n.mustBeFolder = true
		}
	}
}

func sortTree(n *node) {
	slices.SortFunc(n.children, func(a, b *node) int { return cmp.Compare(a.name, b.name) })
	for _, c := range n.children {
		sortTree(c)
	}
}

// flatten lists the tree below n.
func (p *Plan) flatten(n *node, in int) {
	for _, c := range n.children {
		at := len(p.items)
		p.items = append(p.items, item{Entry: c.Entry, method: c.method, name: c.name, parent: in})
		if c.method == methodDir {
			p.flatten(c, at)
		}
		p.items[at].end = len(p.items)
	}
}

// summarize counts what is copied, and lists what is linked; it returns what of a subtree is
// linked, and whether all of it is.
func (p *Plan) summarize(n *node) (linked Amount, all bool) {
	all = true
	var files, parts []Part
	for _, c := range n.children {
		switch c.method {
		case methodCopy:
			p.Copied.Files++
			p.Copied.Bytes += c.Size
			all = false
		case methodHostLink:
			p.Host = append(p.Host, HostLink{c.Path, c.Target})
			all = false
		case methodLink:
			amount := amountOf(c)
			linked = linked.plus(amount)
			if c.Kind == Dir {
				parts = append(parts, Part{Path: c.Path, Folder: true, Whole: true, Amount: amount})
			} else {
				files = append(files, Part{Path: c.Path, Amount: amount})
			}
		case methodDir:
			before := len(p.Linked)
			below, allOfIt := p.summarize(c)
			linked = linked.plus(below)
			if allOfIt && below.Files > 0 {
				p.Linked = p.Linked[:before]
				parts = append(parts, Part{Path: c.Path, Folder: true, Amount: below})
			}
			all = all && allOfIt
		}
	}
	if len(files) > 1 {
		some := Part{Path: n.Path, Folder: true, Partly: true}
		for _, f := range files {
			some.Amount = some.plus(f.Amount)
		}
		files = []Part{some}
	}
	p.Linked = append(append(p.Linked, parts...), files...)
	if n.name == "" {
		slices.SortFunc(p.Linked, func(a, b Part) int {
			return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Files, a.Files),
				cmp.Compare(a.Path, b.Path))
		})
	}
	return linked, all
}

func (a Amount) plus(b Amount) Amount { return Amount{a.Files + b.Files, a.Bytes + b.Bytes} }

// amountOf counts the files of a subtree.
func amountOf(n *node) (a Amount) {
	if n.Kind == File {
		return Amount{1, n.Size}
	}
	for _, c := range n.children {
		a = a.plus(amountOf(c))
	}
	return a
}
