package process

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// A terminal sends Ctrl-C to both processes of a pair, other people and programs only to one. So
// the executor counts what comes to itself and what the guard tells it of apart: of signals that
// come both ways, the greater number were sent.

// pairWindow is how long the second of two that are one may take. After that the counts begin anew,
// as they drift apart when signals are sent to either process alone.
const pairWindow = 10 * time.Second

// tally counts signals of one kind.
type tally struct {
	own, forwarded, delivered int // come to this process, told by the guard, passed on
	last                      time.Time
}

// count counts a signal and tells whether it is one that was not passed on yet.
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

// subscribers are who asked with Notify for the signals that the guard tells of.
var subscribers struct {
	mu  sync.Mutex
	all map[chan<- os.Signal][]os.Signal
}

// deliver hands on a signal that the guard got. One that nobody asked for has its default effect.
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
	if !heard {
		_ = syscall.Kill(os.Getpid(), s)
	}
}

// Notify is signal.Notify for a program that may be one of a pair: a signal that came both from the
// terminal and from the guard counts once. The channel is not closed; what nobody takes beyond 8 is
// dropped. It ends with ctx, after which the signals have their default effect again.
func Notify(ctx context.Context, signals ...os.Signal) <-chan os.Signal {
	own, told, out := make(chan os.Signal, 16), make(chan os.Signal, 16), make(chan os.Signal, 8)
	signal.Notify(own, signals...)
	subscribers.mu.Lock()
	defer subscribers.mu.Unlock()
	if subscribers.all == nil {
		subscribers.all = map[chan<- os.Signal][]os.Signal{}
	}
	subscribers.all[told] = signals
	go func() {
		defer func() {
			signal.Stop(own)
			subscribers.mu.Lock()
			defer subscribers.mu.Unlock()
			delete(subscribers.all, told)
		}()
		tallies := map[os.Signal]*tally{}
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
