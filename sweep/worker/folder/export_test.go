package folder

import (
	"fmt"
	"runtime"
	"strings"
)

// Show lists a plan, in the order in which it is made: "folder/", "copy", "link @", "link ->
// target". Three and more numbered files of a folder are one line.
func (p *Plan) Show() (lines []string) {
	for i := 0; i < len(p.items); i++ {
		it := p.items[i]
		line := it.Path
		switch it.method {
		case methodDir:
			line += "/"
			if n := it.end - i - 1; n > 2 && strings.HasPrefix(p.items[i+1].name, "0") {
				line += fmt.Sprintf(" %d", n)
				if p.items[i+1].method == methodLink {
					line += " @"
				}
				i = it.end - 1
			}
		case methodLink:
			line += " @"
		case methodKeepLink, methodHostLink:
			line += " -> " + it.Target
		}
		lines = append(lines, line)
	}
	return lines
}

// OnFreed calls f once nothing refers to the snapshot of a project any more.
func OnFreed(p *Project, f func()) {
	runtime.AddCleanup(p.snapshot, func(f func()) { f() }, f)
}
