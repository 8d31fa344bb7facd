package cli

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// garbage is how much the heap may grow before it is collected, in percent. It is some 4 MB in a
// worker and in a master: at the usual 100 the collector runs ten times a second under short tasks,
// beside programs that want the cores.
const garbage = 400

// Tune prepares the Go runtime for a process that mostly starts programs, slots of them at a time,
// and waits for them. GOMAXPROCS and GOGC in the environment win.
//
// A slot spends its time in system calls. With no processor to spare, the scheduler takes the
// slot's away each time and hands it to another thread, which costs more than what the slot does.
func Tune(slots int) {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.NumCPU() + slots)
	}
	CollectLess()
}

// CollectLess has the Go runtime collect garbage less often. BoundMemory keeps a large heap from
// growing by it. GOGC in the environment wins.
func CollectLess() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
}

// beside is what the Go runtime needs beside the heap, in bytes, and growth how many times that of
// its live objects a heap may be.
const (
	beside = 8 << 20
	growth = 4
)

// MemoryLimit is the limit for a runtime whose live objects have a size, in bytes: least, or more
// where the collector would run all the time to stay below that.
func MemoryLimit(least, live int64) int64 { return max(least, beside+growth*live) }

// BoundMemory keeps the memory of the Go runtime below MemoryLimit until ctx ends. GOMEMLIMIT in
// the environment wins.
func BoundMemory(ctx context.Context, least int64) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for limit := int64(0); ; {
		metrics.Read(live)
		if wanted := MemoryLimit(least, int64(live[0].Value.Uint64())); wanted > limit ||
			wanted < limit-limit/4 {
			limit = wanted
			debug.SetMemoryLimit(limit)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
