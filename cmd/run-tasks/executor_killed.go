package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/cmd/run-tasks/local"
	"mlframework/sweep/core"
	"mlframework/sweep/worker/process"
)

// executorKilled is the error of a run whose executor was killed alone: what is kept of its sweeps,
// and the way on.
func (c *command) executorKilled(ctx context.Context, killed *process.Killed) error {
	why := "by somebody, or because the machine had no memory left"
	if killed.Signal == syscall.SIGPIPE {
		why = "the program that read its output has ended"
	}
	e := &cli.Error{Code: cli.Machine, Err: fmt.Errorf("%w: %s", killed, why),
		Remedy: "what had ended is kept; `run-tasks ls` shows it, `run-tasks resume SWEEP` runs " +
			"the rest"}
	h, err := c.openFolder(ctx)
	if err != nil { // it had kept nothing, or nothing can be read now
		return e
	}
	defer h.close()
	listed, err := h.reader.List(ctx, "", 0)
	if err != nil {
		return e
	}
	var stand, open []string
	for _, s := range slices.Backward(listed) {
		if !local.ListedAsRunning(s.Head) {
			continue
		}
		now, err := h.Sweep(ctx, s.Head.ID, false)
		if err != nil {
			return e
		}
		if now.State == core.Open { // another process has it
			open = append(open, now.ID)
			continue
		}
		done, _ := display.Tally(now.Summary)
		stand = append(stand, fmt.Sprintf("%s: %d of %s had ended, and their results are kept; "+
			"`%s resume %s` runs the rest", now.ID, done, plural(now.Total, "task"),
			c.self, now.ID))
	}
	if n := len(open); n > 0 {
		stand = append(stand, fmt.Sprintf("%s %s on in the process of another terminal; "+
			"`%s follow %s` shows it", enumerated(open), pick(n, "goes", "go"), c.self, open[n-1]))
	}
	if len(stand) > 0 {
		e.Remedy = strings.Join(stand, "\n  ")
	}
	return e
}
