package folder

import (
	"cmp"
	"slices"
)

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

func (a Amount) minus(b Amount) Amount { return Amount{a.Files - b.Files, a.Bytes - b.Bytes} }

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
