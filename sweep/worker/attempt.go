package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"mlframework/sweep/task"
	"mlframework/sweep/worker/folder"
	"mlframework/sweep/worker/process"
)

// errStopped is why an attempt ends that the master asked to stop.
var errStopped = errors.New("stopped by the master")

// run prepares an attempt in its slot, lets its program run and returns when no process of it is alive. It tells how the
// attempt ended, at the latest then: what a program left may take its grace.
func (w *Worker) run(ctx context.Context, i item, slot int) {
	if o, told := w.attempt(ctx, i, slot); told {
		defer w.beatNow() // the slot is free
	} else {
		w.desk.end(i, o)
	}
	w.desk.free(i)
}

// aheadAfter is how long an attempt runs until the next copy of its project is made: beside shorter ones that would cost more
// than it gives.
const aheadAfter = 20 * time.Millisecond

// attempt is run without the telling, but where that is due earlier.
func (w *Worker) attempt(ctx context.Context, i item, slot int) (o task.Outcome, told bool) {
	j := i.job
	if j.err != nil {
		return w.cannotBegin(ctx, i, j.err)
	}
	if i.lot != nil && i.lot.err != nil {
		return infra(i.lot.err), false
	}
	c, err := j.enter(ctx, i.attempt.Index)
	if err != nil {
		return w.cannotBegin(ctx, i, err)
	}
	ahead := time.AfterFunc(aheadAfter, func() {
		if w.desk.waits(j) {
			j.project.Ahead()
		}
	})
	o, told = w.runIn(ctx, i, slot, c)
	ahead.Stop()
	switch err := c.Leave(); {
	case err != nil && told:
		w.o.Log.Warn("the project's snapshot was written to after the end of a task was told", "task", task.ID{Sweep: j.sweep, Index: i.attempt.Index}, "error", err)
	case err != nil:
		o = written(o, err)
	}
	return o, told
}

// written is the end of an attempt that wrote into its project's snapshot.
func written(o task.Outcome, err error) task.Outcome {
	o.Reason = join(o.Reason, err.Error())
	if o.Class == task.Success {
		o.Class = task.Error
	}
	return o
}

// runIn lets the program of an attempt run in its folder.
func (w *Worker) runIn(ctx context.Context, i item, slot int, c *folder.Checkout) (o task.Outcome, told bool) {
	j, dir := i.job, c.Dir
	secrets := ""
	if i.lot != nil {
		var err error
		if secrets, err = w.shelf.lay(i.lot.values); err != nil {
			return infra(err), false
		}
		defer w.shelf.clear(secrets)
	}
	metrics := w.collect(i)
	stdout, stderr := w.stream(i, slot, dir, "stdout", metrics), w.stream(i, slot, dir, "stderr", metrics)
	if err := stdout.create(); err != nil {
		return w.cannotBegin(ctx, i, err)
	}
	w.begun.note(slot, w.desk.begin(i, task.Start{Host: w.o.Host, Slot: slot, Resumed: c.Resumed, Image: w.o.Image}))
	finish := func(exit process.Exit) task.Outcome {
		kept := errors.Join(exit.OutputErr, stdout.end(), stderr.end())
		if noSpace(kept) && w.desk.full(w.fullDisk()) {
			w.slots.Go(func() { w.noRoom(ctx) }) // the end is not kept back by it
		}
		metrics.flush()
		o := outcome(exit, j.recipe.Timeout)
		o.Metrics, o.Stdout, o.Stderr = metrics.series.Final(), stdout.out, stderr.out
		if kept != nil {
			o.Reason = join(o.Reason, fmt.Sprintf("output not kept in full: %v", kept))
		}
		return o
	}
	exit := w.o.Keeper.Run(ctx, process.Spec{
		Argv:    append(j.recipe.Expand(w.o.Host, slot), i.attempt.Args...),
		Env:     append(j.own(i, slot, w.desk.size(), c), i.lot.environ(secrets)...),
		Dir:     c.Workdir,
		Stdout:  stdout,
		Stderr:  stderr,
		Marks:   []string{"TASK_ID=" + task.ID{Sweep: j.sweep, Index: i.attempt.Index}.String(), "OUTPUT_DIR=" + dir},
		Timeout: j.recipe.Timeout,
		Grace:   j.recipe.Grace,
		Ended: func(exit process.Exit) {
			told = true
			o := finish(exit)
			if err := c.Written(); err != nil { // the folder is left when nobody is in it
				o = written(o, err)
			}
			w.desk.end(i, o)
			w.beatNow()
		},
	})
	if !told {
		o = finish(exit)
	}
	stdout.close()
	stderr.close()
	return o, told
}

// cannotBegin is the end of an attempt that could not begin. Where its definition names what is not there the task has failed: its
// host is as able as others. One for which the disk of outputs has no space is given back, uncharged, as everything is until
// there is some. Another disk may be full, too: that is a fault of the host.
func (w *Worker) cannotBegin(ctx context.Context, i item, err error) (o task.Outcome, told bool) {
	if folder.Misfit(err) {
		reason := fmt.Sprintf("not started on %s: %s", w.o.Host, strings.ReplaceAll(err.Error(), "\n", "; "))
		return task.Outcome{Class: task.Error, Reason: reason}, false
	}
	if !noSpace(err) || hasRoom(w.o.Outputs) {
		return infra(err), false
	}
	if w.desk.full(w.fullDisk()) {
		w.noRoom(ctx)
	}
	w.desk.returnRunning(i)
	return o, true
}

// stream prepares one stream of an attempt: its file and what else takes its output.
func (w *Worker) stream(i item, slot int, dir, name string, metrics *collector) *stream {
	line := task.Line{Sweep: i.job.sweep, Index: i.attempt.Index, Attempt: i.attempt.Number, Host: w.o.Host, Slot: slot, Stderr: name == "stderr"}
	return &stream{
		path: logFile(dir, name, 0), left: w.o.Ceiling, ceiling: w.o.Ceiling, mask: newMask(i.lot.hidden()),
		scanner: i.job.rules.NewScanner(time.Now, metrics.add(name)),
		tap:     tap{port: w.port, following: &w.jobs.following, now: time.Now, line: line},
	}
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
