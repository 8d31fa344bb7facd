package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/cmd/run-tasks/local"
	"mlframework/sweep/api"
	"mlframework/sweep/store"
)

// Waiting for a runner that has the store and cannot be asked: one that begins, or ends.
const (
	storeLook = 20 * time.Millisecond
	storeTell = time.Second
	storeTime = 5 * time.Second
)

// startRunner tries local.Start, under a name that others are told, until this process is the runner
// of the folder, or another one is that can be asked: then it returns nil. One that has the store and
// cannot be asked is waited for, at most as long as most (0: without end); then the error is
// *store.InUse. Check, unless it is nil, is called before each try, and may refuse to go on.
func startRunner(ctx context.Context, name string, m *display.Messages, most time.Duration,
	check func(context.Context) error) (*local.Runner, error) {
	told := false
	for begun := time.Now(); ; {
		if local.Alive() {
			return nil, nil
		}
		if check != nil {
			if err := check(ctx); err != nil {
				return nil, err
			}
		}
		r, err := local.Start(context.WithoutCancel(ctx), name, cli.Log(m))
		inUse, is := errors.AsType[*store.InUse](err)
		switch waited := time.Since(begun); {
		case !is:
			return r, err
		case most > 0 && waited > most && !local.Alive():
			return nil, err
		case !told && waited > storeTell:
			told = true
			holder := strings.TrimPrefix(inUse.Error(), "the store is in use by ")
			m.Note("waiting for the end of " + holder)
		}
		select {
		case <-time.After(storeLook):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// notAsked reports whether a request failed because the runner had ended before it had it.
func notAsked(err error) bool {
	if _, undecided := errors.AsType[*api.UnknownOutcome](err); undecided {
		return false
	}
	_, gone := errors.AsType[*api.Unreachable](err)
	return gone && !errors.Is(err, api.ErrSilent)
}
