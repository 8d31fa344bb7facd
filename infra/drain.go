package infra

import (
	"context"
	"fmt"
	"slices"
	"time"

	"mlframework/infra/plan"
)

// drain has a worker begin nothing more, and waits until it runs nothing, or for so long. After a
// failure it goes on, unless a person drained it.
func (a *applier) drain(ctx context.Context, m *connectedHost, do plan.Drain) error {
	a.onFailure(m, "let the worker go on", func(ctx context.Context) error {
		return a.o.Control.Undrain(ctx, a.master(), do.Worker)
	})
	if err := a.o.Control.Drain(ctx, a.master(), do.Worker); err != nil {
		return err
	}
	if do.Now {
		return nil
	}
	var over <-chan time.Time
	until := ""
	if do.Wait > 0 {
		over = time.After(do.Wait)
		until = ", at most until " + a.o.Now().Add(do.Wait).Format("15:04:05")
	}
	said := 0
	for {
		all, err := a.o.Control.Workers(ctx, a.master())
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(w Worker) bool { return w.Name == do.Worker })
		// A worker may be at work though it is not heard: a master that was just started has not
		// heard any. It holds nothing once it counts as away.
		if i < 0 || all[i].Held == 0 {
			return nil
		}
		if n := all[i].Held; n != said {
			said = n
			a.o.Report.Says(m.name, "waits for "+tasks(n)+until)
		}
		select {
		case <-time.After(lookEvery):
		case <-over:
			a.o.Report.Warn(m.name, fmt.Sprintf("not ended within %v: %s; stopped, to run again "+
				"elsewhere", do.Wait, tasks(said)))
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func tasks(n int) string {
	if n == 1 {
		return "1 task"
	}
	return fmt.Sprintf("%d tasks", n)
}
