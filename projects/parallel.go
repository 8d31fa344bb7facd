package projects

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
)

// each calls do for 0 to n-1 from at most workers goroutines and waits for all of them. The first
// error, or the end of ctx, stops handing out; it is returned. A panic in do is raised again here.
func each(ctx context.Context, workers, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	var once sync.Once
	var crash any
	jobs := make(chan int)
	for range min(workers, n) {
		group.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					once.Do(func() { crash = fmt.Sprintf("%v\n%s", r, debug.Stack()) })
					cancel(context.Canceled)
				}
			}()
			for i := range jobs {
				if err := do(ctx, i); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	hand(ctx, jobs, n)
	group.Wait()
	if crash != nil {
		panic(crash)
	}
	return context.Cause(ctx)
}

// hand gives out 0 to n-1 until ctx ends.
func hand(ctx context.Context, jobs chan<- int, n int) {
	defer close(jobs)
	for i := range n {
		select {
		case jobs <- i:
		case <-ctx.Done():
			return
		}
	}
}
