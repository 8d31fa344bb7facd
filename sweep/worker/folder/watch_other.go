//go:build !linux

package folder

// watcher does nothing on this system: every file of a copy is checked.
type watcher struct{}

func (*watcher) open(string)                        {}
func (*watcher) close()                             {}
func (*watcher) watch(*projectCopy, string)         {}
func (*watcher) rewatch(*projectCopy, []int)        {}
func (*watcher) forget(*projectCopy)                {}
func (*watcher) touched(*projectCopy) ([]int, bool) { return nil, false }
