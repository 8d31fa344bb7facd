package cli

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"mlframework/sweep/worker/process"
)

// ErrInterrupted is the cause of a context that Interrupts ended.
var ErrInterrupted = errors.New("interrupted")

// pairTime is for how long a SIGTERM or SIGHUP after the first one counts as the same: timeout(1)
// and a terminal that is closed send it twice.
const pairTime = time.Second

// Interrupts returns a context that ends with the first Ctrl-C (SIGINT), SIGTERM or SIGHUP. The
// second, or Ctrl-\ (SIGQUIT), calls leave, in its own goroutine. The returned function ends the
// watching.
func Interrupts(ctx context.Context, leave func()) (context.Context, func()) {
	watch, stop := context.WithCancel(ctx)
	signals := process.Notify(watch, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP,
		syscall.SIGQUIT)
	interrupted, cancel := context.WithCancelCause(ctx)
	go func() {
		var first os.Signal
		var came time.Time
		for {
			select {
			case s := <-signals:
				switch {
				case s == syscall.SIGQUIT, first != nil && (first == syscall.SIGINT ||
					s == syscall.SIGINT || time.Since(came) > pairTime):
					leave()
					return
				case first == nil:
					first, came = s, time.Now()
					cancel(ErrInterrupted)
				}
			case <-watch.Done():
				return
			}
		}
	}()
	return interrupted, func() {
		stop()
		cancel(nil)
	}
}
