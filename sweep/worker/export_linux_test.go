package worker

// Memory is memory.
var Memory = memory

// CPUShare returns the share of busy time between two texts of /proc/stat.
func CPUShare(before, now []byte) float64 { return parseCPU(now).share(parseCPU(before)) }
