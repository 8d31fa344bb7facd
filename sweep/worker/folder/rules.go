package folder

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mlframework/sweep/task"
)

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
	// the sweep whose tasks share copies, one after another; tasks of other sweeps get none of
	// them, as a task may have left code in compiled modules, or hold a file open
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

// IsOutput reports whether a path of the project is, or lies in, an output: tasks start without it.
func (r Rules) IsOutput(p string) bool {
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

// pathRule is what tasks.yml specifies for a path.
type pathRule uint8

const (
	noRule pathRule = iota
	copyRule
	linkRule
)

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
	emptyOutputs(nodes[""], append(slices.Clone(logNames), r.Outputs...))
	emptyOutputs(nodes[r.Workdir], r.Outputs)
	for _, p := range slices.Sorted(maps.Keys(r.Links)) {
		if f := firstFile(nodes, path.Dir(p)); f != "" {
			problems = append(problems, Problem{"links", p, f + " is not a folder"})
			continue
		}
		if above, n := nodes[path.Dir(p)], nodes[p]; above != nil && n != nil {
			above.children = slices.DeleteFunc(above.children, func(c *node) bool { return c == n })
			delete(nodes, p)
		}
		n := addNode(nodes, Entry{Path: p, Kind: Symlink, Target: r.Links[p]})
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

// emptyOutputs hides what a folder holds under names of outputs.
func emptyOutputs(n *node, names []string) {
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

// firstFile returns the first entry on the way to a folder that is not a folder itself.
func firstFile(nodes map[string]*node, folder string) string {
	for p := folder; p != "." && p != "/"; p = path.Dir(p) {
		if n := nodes[p]; n != nil && n.Kind != Dir {
			return p
		}
	}
	return ""
}

// reachable reports whether a path is still in the tree.
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
