package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	cliv2 "github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"
	"golang.org/x/term"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/internal/yamlfile"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

func waitCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "wait", ArgsUsage: "[SWEEP...]", Action: onSource(c, readWaitOptions),
		Usage: "wait for sweeps to end",
		Flags: append(locationFlags(),
			cli.Switch("any", "return as soon as one of the sweeps ends"),
			&cliv2.StringFlag{Name: "timeout", DefaultText: "no limit",
				Usage: "wait at most `TIME`, such as 90s, 2h or 1d"}),
		Description: `Prints one line for each sweep when it ends. The exit code is 0 if all tasks
succeeded, 1 if any did not, and 124 if the timeout expires first. With --any,
it is the exit code of the first sweep to end. A paused sweep counts as ended
once none of its tasks are running. Ctrl-C does not stop the sweeps.

EXAMPLES:
   # the newest sweep
   run-tasks wait
   # two sweeps, for at most two hours
   run-tasks wait run_training-1 run_training-2 --timeout 2h`}
}

// waitOptions are the options of `run-tasks wait`.
type waitOptions struct {
	sweeps  []string      // ids, or names of definitions; "": the newest
	any     bool          // the first sweep that ends is enough
	timeout time.Duration // 0: no limit
}

// reportWait is how often a person is told what is waited for.
const reportWait = time.Minute

func readWaitOptions(ctx *cliv2.Context) (o waitOptions, err error) {
	o = waitOptions{sweeps: ctx.Args().Slice(), any: ctx.Bool("any")}
	if len(o.sweeps) == 0 && o.any {
		return o, cli.Wrong("run-tasks wait --any train-1 train-2, for example",
			"--any requires the sweeps of which one is waited for")
	} else if len(o.sweeps) == 0 {
		o.sweeps = []string{""}
	}
	for _, name := range o.sweeps {
		if sweep, _, isTask := strings.Cut(name, "/"); isTask {
			return o, cli.Wrong("run-tasks wait "+sweep+" waits for its sweep",
				"cannot wait for a single task")
		}
	}
	if ctx.IsSet("timeout") {
		d, problem, remedy := yamlfile.ParseDuration(ctx.String("timeout"))
		switch {
		case problem != "":
			return o, cli.Wrong(remedy, "--timeout: %s", problem)
		case d == 0:
			return o, cli.Wrong("leave it out to wait without a limit",
				"--timeout must be more than 0")
		}
		o.timeout = d
	}
	return o, nil
}

// Why waiting ends before all sweeps have ended.
var (
	errTimeUp   = errors.New("the time is up")
	errOneEnded = errors.New("one sweep has ended") // with --any
)

// run waits for the sweeps of a source.
func (o waitOptions) run(ctx context.Context, src source, t *terminal) error {
	ctx, stop := cli.Interrupts(ctx, func() { os.Exit(cli.Interrupted) })
	defer stop()
	waitForMaster(src)
	if o.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.timeout, errTimeUp)
		defer cancel()
	}
	w := &waiter{waitOptions: o, terminal: t}
	err := w.find(ctx, src)
	if err == nil {
		err = w.awaitAll(ctx, src)
	}
	switch cause := context.Cause(ctx); {
	case err == nil || errors.Is(err, errOneEnded):
		return cli.Code(w.code)
	case errors.Is(cause, errTimeUp):
		return &cli.Error{Code: cli.TimeUp, Err: fmt.Errorf("the time is up after %s; %s",
			human.Duration(o.timeout.Seconds()), w.text())}
	case errors.Is(cause, cli.ErrInterrupted):
		return cli.Code(cli.Interrupted)
	}
	return err
}

// waiter is what `run-tasks wait` knows while it waits.
type waiter struct {
	waitOptions
	*terminal

	mu    sync.Mutex
	open  []core.Summary // the sweeps that have not ended, as they were last seen
	ended int            // how many have
	code  int            // the exit code, as far as sweeps have ended
}

// find looks all sweeps up, before it takes out those that have ended already.
func (w *waiter) find(ctx context.Context, src source) error {
	for _, name := range w.sweeps {
		s, err := sweepOf(ctx, src, name, false)
		if err != nil {
			return err
		}
		if w.index(s.ID) < 0 {
			w.open = append(w.open, s.Summary)
		}
	}
	for _, s := range slices.Clone(w.open) {
		if (api.Update{Sweep: s}).Idle() {
			if err := w.end(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// awaitAll waits for the open sweeps, and meanwhile reports what it waits for.
func (w *waiter) awaitAll(ctx context.Context, src source) error {
	group, following := errgroup.WithContext(ctx)
	for _, s := range slices.Clone(w.open) {
		group.Go(func() error { return w.await(following, ownState(src), s) })
	}
	reporting, stop := context.WithCancel(ctx)
	var reporter sync.WaitGroup
	if len(w.open) > 0 && term.IsTerminal(int(w.stderr.Fd())) {
		reporter.Go(func() { w.reportEvery(reporting) })
	}
	err := group.Wait()
	stop()
	reporter.Wait()
	return err
}

// ownState returns a source whose follow may be called at the same time as that of src.
func ownState(src source) source {
	if h, ok := src.(*localFolder); ok {
		own := *h
		return &own
	}
	return src
}

// await follows one sweep until it has ended.
func (w *waiter) await(ctx context.Context, src source, s core.Summary) error {
	err := src.follow(ctx, api.StartedSweep{Summary: s}, api.DetailCounts,
		func(u api.Update) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			if at := w.index(s.ID); at >= 0 {
				w.open[at] = u.Sweep
			}
			return nil
		})
	if err != nil {
		return err
	}
	now, err := src.Sweep(ctx, s.ID, false)
	if err != nil {
		return err
	}
	return w.end(now.Summary)
}

// index returns which of the open sweeps has an id; -1: none.
func (w *waiter) index(id string) int {
	return slices.IndexFunc(w.open, func(s core.Summary) bool { return s.ID == id })
}

// end prints how a sweep ended.
func (w *waiter) end(s core.Summary) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.any && w.ended > 0 { // another one ended at the same time
		return errOneEnded
	}
	w.ended++
	if s.State == core.Open { // the process that ran it is gone, and could not record that
		s.State = core.Paused
	}
	if s.Counts[task.Succeeded.String()] < s.Total {
		w.code = cli.Failed
	}
	at := w.index(s.ID)
	w.open = slices.Delete(w.open, at, at+1)
	if _, err := fmt.Fprintf(w.stdout, "%s %s: %s\n", s.ID, s.State, outcomeText(s)); err != nil {
		return err
	}
	if s.State == core.Paused {
		fmt.Fprintln(w.messages, pausedText(s, w.self))
	}
	if w.any {
		return errOneEnded
	}
	return nil
}

// reportEvery says again and again what is waited for.
func (w *waiter) reportEvery(ctx context.Context) {
	for ctx.Err() == nil {
		fmt.Fprintln(w.messages, w.text())
		select {
		case <-time.After(reportWait):
		case <-ctx.Done():
		}
	}
}

// text is "waiting for train-1: 12 of 24 done, 2 running; test-3: 0 of 4 done".
func (w *waiter) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var parts []string
	for _, s := range w.open {
		text := s.ID + ": " + display.CountsText(s)
		if s.Waits != nil {
			text += ", " + cli.Visible(*s.Waits)
		}
		parts = append(parts, text)
	}
	return "waiting for " + strings.Join(parts, "; ")
}
