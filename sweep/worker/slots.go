package worker

import (
	"context"
	"runtime"
	"time"
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

// yieldEvery is how often a slot yields to Go's scheduler. A goroutine that blocks only in system
// calls looks to Go's monitor like one that runs too long: after 10 ms it is preempted with a
// signal, and the monitor polls every 20 us from then on (runtime.sysmon and runtime.retake of Go
// 1.26). To yield costs a change of threads.
const yieldEvery = 5 * time.Millisecond

// slot runs one attempt after the other.
func (w *Worker) slot(ctx context.Context, n int) {
	var yielded time.Time
	for {
		i, attempt, ok := w.desk.take(ctx, n)
		if !ok {
			return
		}
		w.run(attempt, i, n)
		if now := time.Now(); now.Sub(yielded) > yieldEvery {
			runtime.Gosched()
			yielded = now
		}
	}
}
