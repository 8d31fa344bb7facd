package process

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
)

// A terminal sends Ctrl-C to both processes of a pair, people and other programs only to one of
// them. The executor therefore counts the signals that it receives itself and those that the guard
// forwards separately: the greater of the two counts is the number of signals that were sent.

// pairWindow is the maximum time between the two copies of one signal. After that the counters are
// reset, because they drift apart when signals are sent to only one of the processes.
const pairWindow = 10 * time.Second

// tally counts signals of one kind.
type tally struct {
	// received by this process, forwarded by the guard, delivered
	own, forwarded, delivered int
	last                      time.Time
}

// count counts a signal and reports whether it is a new one that has to be delivered.
func (t *tally) count(told bool, now time.Time) bool {
	if now.Sub(t.last) > pairWindow {
		*t = tally{}
	}
	t.last = now
	if told {
		t.forwarded++
	} else {
		t.own++
	}
	if max(t.own, t.forwarded) == t.delivered {
		return false
	}
	t.delivered++
	return true
}

// subscribers are the channels that Notify registered for signals forwarded by the guard.
var subscribers struct {
	mu  sync.Mutex
	all map[chan<- os.Signal][]os.Signal
	// ended has the counts of the last Notify that has ended: the guard may forward its copy of a
	// signal after this process has acted on its own.
	ended map[os.Signal]*tally
}

// deliver passes a signal that the guard received to its subscribers. Without subscribers the
// signal has its default effect, unless it is the copy of one that was delivered.
func deliver(s syscall.Signal) {
	subscribers.mu.Lock()
	defer subscribers.mu.Unlock()
	heard := false
	for to, signals := range subscribers.all {
		for _, wanted := range signals {
			if wanted == s {
				heard = true
				select {
				case to <- s:
				default: // it has plenty
				}
			}
		}
	}
	before := subscribers.ended[s]
	if !heard && (before == nil || before.count(true, time.Now())) {
		_ = syscall.Kill(os.Getpid(), s)
	}
}

// Notify is signal.Notify for a program that may be one of a pair: a signal that arrives both from
// the terminal and from the guard counts once. The channel is not closed; signals beyond 8 that
// have not been received are dropped. It ends with ctx, after which the signals have their default
// effect again. A hangup that is ignored, as nohup does, stays ignored.
func Notify(ctx context.Context, signals ...os.Signal) <-chan os.Signal {
	own, told, out := make(chan os.Signal, 16), make(chan os.Signal, 16), make(chan os.Signal, 8)
	if signals = withoutIgnoredHangup(signals); len(signals) > 0 { // none would be all of them
		signal.Notify(own, signals...)
	}
	subscribers.mu.Lock()
	defer subscribers.mu.Unlock()
	if subscribers.all == nil {
		subscribers.all = map[chan<- os.Signal][]os.Signal{}
	}
	subscribers.all[told] = signals
	go func() {
		tallies := map[os.Signal]*tally{}
		defer func() {
			signal.Stop(own)
			subscribers.mu.Lock()
			defer subscribers.mu.Unlock()
			delete(subscribers.all, told)
			subscribers.ended = tallies
		}()
		pass := func(s os.Signal, fromGuard bool) {
			if tallies[s] == nil {
				tallies[s] = &tally{}
			}
			if tallies[s].count(fromGuard, time.Now()) {
				select {
				case out <- s:
				default:
				}
			}
		}
		for {
			select {
			case <-ctx.Done():
				return
			case s := <-own:
				pass(s, false)
			case s := <-told:
				pass(s, true)
			}
		}
	}()
	return out
}

// withoutIgnoredHangup leaves SIGHUP out if this process ignores it: signal.Notify would enable it.
func withoutIgnoredHangup(signals []os.Signal) []os.Signal {
	return slices.DeleteFunc(slices.Clone(signals), func(s os.Signal) bool {
		return s == syscall.SIGHUP && signal.Ignored(s)
	})
}
