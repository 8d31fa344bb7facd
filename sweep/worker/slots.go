package worker

import (
	"context"
	"runtime"
)

// mostSlots bounds what a message can ask for. Each slot costs a goroutine.
const mostSlots = 1 << 12

// resize changes how many attempts run at a time; 0 is the number the worker was started with. New slots take attempts
// at once; a slot that is too many ends with the attempt in it.
func (w *Worker) resize(ctx context.Context, slots int) {
	if slots < 0 || slots > mostSlots {
		w.o.Log.Warn("number of slots refused", "slots", slots, "most", mostSlots)
		return
	}
	if slots == 0 {
		slots = w.o.Slots
	}
	w.desk.resize(slots, func(n int) {
		w.slots.Go(func() { w.slot(ctx, n) })
	})
}

// slot runs one attempt after the other.
func (w *Worker) slot(ctx context.Context, n int) {
	for {
		i, attempt, ok := w.desk.take(ctx, n)
		if !ok {
			return
		}
		w.run(attempt, i, n)
		// A goroutine that blocks only in system calls looks to Go's monitor like one that runs too
		// long. It would be preempted, and the monitor would poll every 20 us instead of every 10 ms
		// (runtime.retake, runtime.sysmon).
		runtime.Gosched()
	}
}
