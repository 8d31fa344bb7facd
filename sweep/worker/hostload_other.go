//go:build !linux

package worker

// sample does nothing: workers of a cluster run on Linux, and the local one's load is not shown.
func (m *loadMeter) sample() {}

// HostMemory returns 0: how much memory tasks can use is not known.
func HostMemory() int64 { return 0 }
