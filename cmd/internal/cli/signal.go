package cli

import (
	"context"
	"errors"
	"syscall"

	"mlframework/sweep/worker/process"
)

// ErrInterrupted is the cause of a context that Interrupts ended.
var ErrInterrupted = errors.New("interrupted")

// Interrupts returns a context that ends with the first Ctrl-C (SIGINT), SIGTERM or SIGHUP. The
// second, or Ctrl-\ (SIGQUIT), calls leave, in its own goroutine. The returned function ends the
// watching.
func Interrupts(ctx context.Context, leave func()) (context.Context, func()) {
	watch, stop := context.WithCancel(ctx)
	signals := process.Notify(watch, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP,
		syscall.SIGQUIT)
	interrupted, cancel := context.WithCancelCause(ctx)
	go func() {
		for first := true; ; first = false {
			select {
			case s := <-signals:
				if !first || s == syscall.SIGQUIT {
					leave()
					return
				}
				cancel(ErrInterrupted)
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
