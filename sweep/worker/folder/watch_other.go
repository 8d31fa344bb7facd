//go:build !linux

package folder

// watcher does nothing on this system: every file of a copy is checked.
type watcher struct{}

func (*watcher) open(string)                     {}
func (*watcher) close()                          {}
func (*watcher) watch(*workCopy, string)         {}
func (*watcher) rewatch(*workCopy, []int)        {}
func (*watcher) forget(*workCopy)                {}
func (*watcher) touched(*workCopy) ([]int, bool) { return nil, false }
