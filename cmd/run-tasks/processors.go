package main

import (
	"os"
	"runtime"
)

// spareProcessors gives the scheduler a processor for each slot beside those of the cores. A slot spends its time in
// system calls, starting a program and waiting for it; with none to spare, the runtime takes the processor away from it
// each time and hands it to another thread, which costs more than what the slot does. GOMAXPROCS in the environment wins.
func spareProcessors(slots int) {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.NumCPU() + slots)
	}
}
