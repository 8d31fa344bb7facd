package worker

import (
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
	"mlframework/sweep/worker/process"
)

// Outcome is outcome, for ends that no test can bring about.
func Outcome(e process.Exit, limit time.Duration) task.Outcome { return outcome(e, limit) }

// Remembered is how many attempts that are over a worker still knows.
const Remembered = remembered

// Mask hides secrets in what is written in pieces.
func Mask(secrets []string, pieces ...[]byte) (out []byte, held int) {
	m := newMask(secrets)
	for _, p := range pieces {
		out = append(out, m.hide(p)...)
		held = max(held, len(m.held))
	}
	return append(out, m.rest()...), held
}

// Tap cuts pieces into lines for a port that follows, in no time.
func Tap(p queue.Port, pieces ...string) { TapWithClock(p, 0, pieces...) }

// TapWithClock is Tap with a clock that goes on by tick with every look at it.
func TapWithClock(p queue.Port, tick time.Duration, pieces ...string) {
	f := &following{}
	f.set("s-1", true)
	clock := time.Unix(0, 0)
	now := func() time.Time {
		clock = clock.Add(tick)
		return clock
	}
	t := tap{port: p, following: f, now: now, line: task.Line{Sweep: "s-1"}}
	for _, piece := range pieces {
		t.write([]byte(piece))
	}
	t.close()
}

// TapOff is a tap that nobody follows, and its write.
func TapOff() func([]byte) {
	t := tap{following: &following{}, line: task.Line{Sweep: "s-1"}}
	return t.write
}
