package process_test

import (
	"context"
	"runtime"
	"syscall"
	"testing"
	"time"

	"mlframework/sweep/worker/process"
)

// A signal that comes to both processes of a pair counts once, in whatever order and however late
// its other half comes.
func TestSignalsOfBothCountOnce(t *testing.T) {
	t.Parallel()
	const own, told = false, true
	type step struct {
		told  bool
		after time.Duration
		fresh bool
	}
	for name, steps := range map[string][]step{
		"one alone":      {{own, 0, true}},
		"one told":       {{told, 0, true}},
		"one, then told": {{own, 0, true}, {told, 0, false}},
		"told first":     {{told, 0, true}, {own, 3 * time.Second, false}},
		"two of both, one by one": {{own, 0, true}, {told, 0, false}, {told, time.Second, true},
			{own, 0, false}},
		"two of both, told together": {{own, 0, true}, {own, time.Second, true}, {told, 0, false},
			{told, 0, false}},
		"two quick ones, one merged": {{own, 0, true}, {told, 0, false}, {told, 0, true}},
		"two told":                   {{told, 0, true}, {told, time.Second, true}},
		"each alone, long between":   {{told, 0, true}, {own, time.Minute, true}, {told, 0, false}},
	} {
		tally, now := process.Tally{}, time.Now()
		for n, s := range steps {
			now = now.Add(s.after)
			if got := tally.Fresh(s.told, now); got != s.fresh {
				t.Errorf("%s, signal %d: passed on %v, want %v", name, n+1, got, s.fresh)
			}
		}
	}
}

// The guard's copy of a signal may come after the program has acted on its own and stopped
// listening. It does not end the program.
func TestForwardedCopyOfADeliveredSignal(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	signals := process.Notify(ctx, syscall.SIGHUP)
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	<-signals
	stop()
	for process.Subscribers() > 0 {
		runtime.Gosched()
	}
	process.Deliver(syscall.SIGHUP)
}
