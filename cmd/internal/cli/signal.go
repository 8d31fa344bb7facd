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
// second calls leave, in its own goroutine. The returned function ends the watching.
func Interrupts(ctx context.Context, leave func()) (context.Context, func()) {
	watch, stop := context.WithCancel(ctx)
	signals := process.Notify(watch, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	interrupted, cancel := context.WithCancelCause(ctx)
	go func() {
		var first os.Signal
		select {
		case first = <-signals:
			cancel(ErrInterrupted)
		case <-watch.Done():
			return
		}
		for came := time.Now(); ; {
			select {
			case s := <-signals:
				if first == syscall.SIGINT || s == syscall.SIGINT || time.Since(came) > pairTime {
					leave()
					return
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
