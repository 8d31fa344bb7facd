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
}

// RulesOf returns the rules of a recipe.
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
func (r Rules) IsOutput(p string) bool { return r.OutputOf(p) != "" }

// OutputOf returns the path of the output that a path of the project is or lies in; "" if there is
// none.
func (r Rules) OutputOf(p string) string {
	for _, base := range []string{"", r.Workdir + "/"} {
		if below, is := strings.CutPrefix(p, base); is {
			name, _, _ := strings.Cut(below, "/")
			if (slices.Contains(outputNames, name) || slices.Contains(r.Outputs, name)) &&
				!r.brings(base+name, p) {
				return base + name
			}
		}
	}
	return ""
}

// brings reports whether copy or link names a path in an output, or a folder above it there: tasks
// get that of the output.
func (r Rules) brings(output, p string) bool {
	return slices.ContainsFunc(slices.Concat(r.Link, r.Copy), func(named string) bool {
		return inOrAt(named, output) && inOrAt(p, named)
	})
}

// inOrAt reports whether a path is one of a folder, or below it.
func inOrAt(p, of string) bool { return p == of || strings.HasPrefix(p, of+"/") }

// pathRule is what tasks.yml specifies for a path.
type pathRule uint8

const (
	noRule pathRule = iota
	copyRule
	linkRule
)

// apply brings the rules into the tree. It returns what of the project tasks start without, as it
// has the name of an output.
func (r Rules) apply(nodes map[string]*node) (hidden []Part, problems []Problem) {
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
	hidden = r.emptyOutputs(nodes[""], logNames)
	hidden = append(hidden, r.emptyOutputs(nodes[r.Workdir], nil)...)
	hidden = slices.DeleteFunc(hidden, func(p Part) bool { return r.Links[p.Path] != "" })
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
		return hidden, problems
	}
	if n := nodes[r.Workdir]; n == nil || n.Kind != Dir || !reachable(nodes, r.Workdir) {
		text := "the project has no such folder"
		if output := r.OutputOf(r.Workdir); output != "" && n != nil && n.Kind == Dir {
			text = "it is in " + output + "/, which is taken for outputs and starts empty"
		}
		return hidden, append(problems, Problem{"workdir", r.Workdir, text})
	}
	keepFolder(nodes, r.Workdir)
	return hidden, problems
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

// emptyOutputs hides what a folder holds under names of outputs, but for what copy and link name,
// and all that it holds under the other names. It returns what it hides.
func (r Rules) emptyOutputs(n *node, others []string) (hidden []Part) {
	if n == nil {
		return nil
	}
	n.children = slices.DeleteFunc(n.children, func(c *node) bool {
		other := slices.Contains(others, c.name)
		if !other && !slices.Contains(outputNames, c.name) && !slices.Contains(r.Outputs, c.name) {
			return false
		}
		brought := func(in *node) bool { return !other && r.brings(c.Path, in.Path) }
		c.mustBeFolder = true
		if brought(c) {
			return false
		}
		if c.Kind != Dir {
			hidden = append(hidden, Part{Path: c.Path, Amount: amountOf(c)})
			return true
		}
		before, filled := amountOf(c), len(c.children) > 0
		c.reduce(brought)
		if rest := amountOf(c); filled && (rest != before || len(c.children) == 0) {
			hidden = append(hidden, Part{Path: c.Path, Folder: true, Amount: before.minus(rest)})
		}
		return false
	})
	return hidden
}

// reduce removes what is below n, but for what is kept, and the folders above that.
func (n *node) reduce(kept func(*node) bool) {
	n.children = slices.DeleteFunc(n.children, func(c *node) bool {
		if kept(c) {
			return false
		}
		c.reduce(kept)
		return len(c.children) == 0
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
