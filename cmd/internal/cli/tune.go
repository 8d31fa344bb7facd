package cli

import (
	"os"
	"runtime"
	"runtime/debug"
)

// garbage is how much the heap of an executor may grow before it is collected, in percent. It is some 4 MB: at the usual
// 100 the collector runs ten times a second under short tasks, beside programs that want the cores.
const garbage = 400

// Tune prepares the Go runtime for a process that mostly starts programs, slots of them at a time, and waits for them.
// GOMAXPROCS and GOGC in the environment win.
//
// A slot spends its time in system calls. With no processor to spare, the scheduler takes the slot's away each time and
// hands it to another thread, which costs more than what the slot does.
func Tune(slots int) {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.NumCPU() + slots)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
}
