package process

import (
	"context"
	"os"
	"os/signal"
	"time"
)

// sameSignal is how close two signals of one kind count as one: longer than the way over the guard on a busy machine,
// shorter than a person's second Ctrl-C.
const sameSignal = 250 * time.Millisecond

// Notify is signal.Notify for a program that may be one of a pair: a signal that came both from the terminal and from
// the guard counts once. The channel is not closed; what nobody takes beyond 8 is dropped. It ends with ctx, after which
// the signals have their default effect again.
func Notify(ctx context.Context, signals ...os.Signal) <-chan os.Signal {
	in, out := make(chan os.Signal, 16), make(chan os.Signal, 8)
	signal.Notify(in, signals...)
	go func() {
		defer signal.Stop(in)
		last := map[os.Signal]time.Time{}
		for {
			select {
			case <-ctx.Done():
				return
			case s := <-in:
				now := time.Now()
				again := now.Sub(last[s]) < sameSignal
				last[s] = now
				if again {
					continue
				}
				select {
				case out <- s:
				default:
				}
			}
		}
	}()
	return out
}
