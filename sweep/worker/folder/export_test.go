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

// WatchAll lets a store watch the smallest copies, too.
func (s *Store) WatchAll() *Store {
	s.minWatched = 0
	return s
}

// Inexact lets a store distrust the times of files.
func (s *Store) Inexact() { s.coarseTimes = true }

// Idle counts the whole copies that no attempt uses.
func (s *Store) Idle() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.idle {
		if !t.incomplete {
			n++
		}
	}
	return n
}

// OnFreed calls f once nothing refers to the snapshot of a project any more.
func OnFreed(p *Project, f func()) {
	runtime.AddCleanup(p.snapshot, func(f func()) { f() }, f)
}
