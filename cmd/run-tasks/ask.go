package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// local is the time zone in which people are shown times.
func local() *time.Location { return time.Local }

// reading opens the store for a question, and finds the sweep that it is about: the newest unless named.
func reading(ctx context.Context, id string) (*store.Reader, store.Sweep, error) {
	reader, err := openReader(ctx)
	if err != nil {
		return nil, store.Sweep{}, err
	}
	s, err := stands(ctx, reader, id)
	if err != nil {
		return nil, store.Sweep{}, errors.Join(unknownSweep(err), reader.Close())
	}
	return reader, s, nil
}

// stands reads how a sweep stands: one that the store has as running is paused when nobody runs it.
func stands(ctx context.Context, reader *store.Reader, id string) (store.Sweep, error) {
	s, err := reader.Sweep(ctx, id)
	if err == nil && s.Head.State == sweep.Open && !alive() {
		s.Head.State, s.Head.Reason = sweep.Paused, killed
	}
	return s, err
}

// alive tells whether a runner of this folder can be asked.
func alive() bool {
	conn, err := net.Dial("unix", socketPath)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// killed is why a sweep does not run that the store has as running.
const killed = "its run was cut short"

func openReader(ctx context.Context) (*store.Reader, error) {
	if info, err := os.Stat(storeFolder); err == nil && !info.IsDir() {
		return nil, storeError(&fs.PathError{Op: "open", Path: storeFolder, Err: syscall.ENOTDIR})
	}
	reader, err := store.OpenReader(ctx, storeFolder)
	if errors.Is(err, store.ErrNone) {
		return nil, noSweep()
	}
	return reader, err
}

func noSweep() error {
	return cli.Wrong("run-tasks --local NAME runs one; or go to the folder where it was run", "there is no sweep in this folder")
}

func unknownSweep(err error) error {
	unknown, ok := errors.AsType[*store.UnknownSweep](err)
	switch {
	case ok && unknown.ID == "":
		return noSweep()
	case ok:
		return &cli.Error{Code: cli.Usage, Err: err, Remedy: "run-tasks ls lists them"}
	}
	return err
}

// target is what a command is about: a sweep, or one task of it.
type target struct {
	sweep  string // "": the newest
	index  int64
	isTask bool
}

// text is the target as it is written.
func (t target) text() string {
	if !t.isTask {
		return t.sweep
	}
	return task.ID{Sweep: t.sweep, Index: t.index}.String()
}

func parseTarget(text string) (target, error) {
	if !strings.Contains(text, "/") {
		return target{sweep: text}, nil
	}
	id, err := task.ParseID(text)
	if err != nil {
		return target{}, cli.Wrong("", "%w", err)
	}
	return target{id.Sweep, id.Index, true}, nil
}

// readTask reads the row of a task; one that was never handed out has only its index and state.
func readTask(ctx context.Context, reader *store.Reader, s store.Sweep, index int64) (sweep.Task, error) {
	n, ok := s.Record.Ranges.Ordinal(index)
	if !ok || n < 0 || n >= s.Head.Total {
		return sweep.Task{}, cli.Wrong("", "%s has no task %d: it has %s", s.Head.ID, index, plural(s.Head.Total, "task"))
	}
	t, have, err := reader.Task(ctx, s, index)
	if !have {
		t = sweep.Task{Index: index, State: s.Head.Fresh()}
	}
	return t, err
}

// list is `run-tasks ls`.
func (c *command) list(ctx *cliv2.Context) error {
	if ctx.NArg() > 0 {
		return stray(ctx.Args().First())
	}
	reader, err := openReader(ctx.Context)
	if err != nil {
		return err
	}
	defer reader.Close()
	sweeps, err := reader.Sweeps(ctx.Context)
	if err != nil {
		return err
	}
	if len(sweeps) == 0 {
		return noSweep()
	}
	held := alive()
	for i := range sweeps {
		if h := &sweeps[i].Head; h.State == sweep.Open && !held {
			h.State, h.Reason = sweep.Paused, killed
		}
	}
	if ctx.Bool("json") {
		return c.listJSON(sweeps)
	}
	return c.listText(sweeps)
}

func (c *command) listText(sweeps []store.Sweep) error {
	t := newTable("SWEEP", "STATE", "TASKS", "DONE", "FAILED", "SUBMITTED", "TOOK")
	for _, s := range sweeps {
		h, counts := s.Head, s.Head.Counts()
		took := ""
		if !h.Ended.IsZero() {
			took = h.Ended.Sub(h.Submitted).Round(time.Second).String()
		}
		t.add(h.ID, string(h.State), fmt.Sprint(h.Total), fmt.Sprint(counts.Done()), fmt.Sprint(counts.Failures()),
			h.Submitted.In(local()).Format(time.DateTime), took)
	}
	return t.write(c.stdout)
}
