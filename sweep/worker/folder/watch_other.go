//go:build !linux

package folder

// watcher is for Linux: elsewhere every file of a copy is looked at.
type watcher struct{}

func (*watcher) open(string)                     {}
func (*watcher) close()                          {}
func (*watcher) watch(*workCopy, string)         {}
func (*watcher) rewatch(*workCopy, []int)        {}
func (*watcher) forget(*workCopy)                {}
func (*watcher) touched(*workCopy) ([]int, bool) { return nil, false }
