package worker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"mlframework/sweep/argv"
	"mlframework/sweep/task"
	"mlframework/sweep/worker/folder"
	"mlframework/sweep/worker/process"
)

// errStopped is why an attempt ends that the master asked to stop.
var errStopped = errors.New("stopped by the master")

// runItem runs an attempt in its slot and returns when none of its processes is alive. The outcome
// is reported then at the latest; it is reported earlier if the program leaves processes behind,
// whose end may take the whole grace.
func (w *Worker) runItem(ctx context.Context, i item, slot int) {
	if o, reported := w.runAttempt(ctx, i, slot); reported {
		defer w.beatNow() // the slot is free
	} else {
		w.scheduler.finish(i, o, false)
	}
	w.scheduler.release(i)
}

// runAttempt does the work of runItem; reported says whether the outcome has been reported already.
func (w *Worker) runAttempt(ctx context.Context, i item, slot int) (o task.Outcome, reported bool) {
	j := i.job
	if j.err != nil {
		return w.startFailure(ctx, i, j.err)
	}
	if i.secrets != nil && i.secrets.err != nil {
		return infraOutcome(i.secrets.err), false
	}
	ws, err := j.enterWorkspace(ctx, i.attempt)
	if err != nil {
		return w.startFailure(ctx, i, err)
	}
	o, reported = w.runProgram(ctx, i, slot, ws)
	err = ws.Leave()
	if !reported {
		o.Left = ws.Size()
	}
	switch {
	case err != nil && reported:
		w.o.Log.Warn("the project's snapshot was modified after the end of a task was reported",
			"task", task.ID{Sweep: j.sweep, Index: i.attempt.Index}, "error", err)
	case err != nil:
		o = failWritten(o, err)
	}
	return o, reported
}

// runProgram runs the program of an attempt in its folder.
func (w *Worker) runProgram(ctx context.Context, i item, slot int,
	ws *folder.Workspace) (o task.Outcome, reported bool) {
	j, dir := i.job, ws.Dir
	secrets := ""
	if i.secrets != nil {
		var err error
		if secrets, err = w.secretDir.create(i.secrets.values); err != nil {
			return infraOutcome(err), false
		}
		defer w.secretDir.remove(secrets)
	}
	metrics := w.newCollector(i)
	stdout := w.newStream(i, slot, dir, "stdout", metrics)
	stderr := w.newStream(i, slot, dir, "stderr", metrics)
	if err := stdout.create(); err != nil {
		return w.startFailure(ctx, i, err)
	}
	given, err := argv.Of(j.recipe, w.placeholders(i, slot, dir), i.attempt, j.config)
	if err == nil {
		err = writeParameters(dir, given)
	}
	if err != nil {
		return w.startFailure(ctx, i, err)
	}
	var unread error // what earlier attempts printed, and cannot be read
	if ws.Resumed {
		unread = metrics.resume(ctx, dir, i.attempt.Since)
	}
	metrics.files = w.followFiles(i, ws, metrics)
	defer metrics.files.close()
	w.starts.record(slot, w.scheduler.start(i, task.Start{Host: w.o.Host, Slot: slot,
		Resumed: ws.Resumed, Image: w.o.Image}))
	finish := func(exit process.Exit) task.Outcome {
		removed := removedOutput(dir)
		kept := errors.Join(exit.OutputErr, stdout.end(), stderr.end(), removed)
		o := outcome(exit, j.recipe.Timeout)
		full := w.failedFull(&o)
		if (full || noSpace(kept)) && w.scheduler.setNoSpace(w.noSpaceReason()) {
			w.attempts.Go(func() { w.pauseForSpace(ctx) }) // the end is not kept back by it
		}
		metrics.files.end(o.Exited())
		metrics.flush()
		addReason(&o, exit, stdout, stderr, dir, ws.Workdir)
		if full {
			o.Class, o.Reason = task.Stopped, w.noSpaceReason()+"; "+o.Reason
		}
		if o.Class == task.Loss && w.outputsRemoved() { // before the program could start
			o.Class = task.Stopped
		}
		w.blameGPUs(ctx, i, &o)
		o.Metrics, o.Stdout, o.Stderr = metrics.final(), stdout.out, stderr.out
		if removed != nil {
			o.Stdout.Error = removed.Error()
		}
		o.Unmeasured, o.Thinned = metrics.files.problems(o.Class), metrics.series.Thinned()
		if unread != nil {
			o.Unmeasured = append(o.Unmeasured,
				fmt.Sprintf("the metrics of earlier attempts cannot all be read: %v", unread))
		}
		if kept != nil {
			o.Reason = joinReasons(o.Reason, fmt.Sprintf("output not kept in full: %v", kept))
		}
		return o
	}
	exit := w.o.Keeper.Run(ctx, process.Spec{
		Argv: given.Argv,
		Env: withGPUs(append(j.attemptEnviron(i, slot, w.scheduler.slotCount(), ws, given.Env),
			i.secrets.environ(secrets)...), w.gpuEnviron(i)),
		Dir:    ws.Workdir,
		Own:    attemptFolders(dir, secrets),
		Stdout: stdout,
		Stderr: stderr,
		Marks: []string{"TASK_ID=" + task.ID{Sweep: j.sweep, Index: i.attempt.Index}.String(),
			"OUTPUT_DIR=" + dir},
		Timeout: j.recipe.Timeout,
		Grace:   j.recipe.Grace,
		Ended: func(exit process.Exit) {
			reported = true
			o := finish(exit)
			if err := ws.CheckSnapshot(); err != nil { // the folder is left when nobody is in it
				o = failWritten(o, err)
			}
			o.Left = ws.Size()
			w.scheduler.finish(i, o, true)
			w.beatNow()
		},
	})
	w.scheduler.keepGPUs(i.key(), exit.Unkillable)
	if !reported {
		o = finish(exit)
	}
	stdout.close()
	stderr.close()
	return o, reported
}

// placeholders returns the values of the names in braces for an attempt.
func (w *Worker) placeholders(i item, slot int, dir string) task.PlaceholderValues {
	id := task.ID{Sweep: i.job.sweep, Index: i.attempt.Index}
	return task.PlaceholderValues{Host: w.o.Host, Slot: strconv.Itoa(slot),
		Index: strconv.FormatInt(id.Index, 10), Output: dir, Task: id.String()}
}

// attemptFolders returns the folders that belong to one attempt alone: its task's and that of its
// secrets, which may be "".
func attemptFolders(dir, secrets string) []string {
	if secrets == "" {
		return []string{dir}
	}
	return []string{dir, secrets}
}

// startFailure returns the outcome of an attempt that could not start. If its definition names
// something that does not exist, the task has failed: other hosts could not start it either. If the
// disk of the outputs is full, their folder was removed, or the project's files are not here, the
// attempt is returned without being charged, like all others until
// there is space. Any other error, such as another disk being full, is a fault of the host.
func (w *Worker) startFailure(ctx context.Context, i item, err error) (o task.Outcome,
	reported bool) {
	if folder.IsRuleError(err) || argv.IsFault(err) {
		reason := fmt.Sprintf("not started on %s: %v", w.o.Host, err)
		return task.Outcome{Class: task.Error, Reason: reason}, false
	}
	if w.outputsRemoved() {
		w.scheduler.returnRunning(i)
		return o, true
	}
	if missing, is := errors.AsType[*MissingRevision](err); is && !w.o.SoleWorker {
		w.noteMissing(ctx, missing)
		w.scheduler.returnRunning(i)
		return o, true
	}
	if !noSpace(err) || hasSpace(w.o.Outputs) {
		return infraOutcome(err), false
	}
	if w.scheduler.setNoSpace(w.noSpaceReason()) {
		w.pauseForSpace(ctx)
	}
	w.scheduler.returnRunning(i)
	return o, true
}

// newStream prepares one output stream of an attempt: its file and everything else that reads its
// output.
func (w *Worker) newStream(i item, slot int, dir, name string, metrics *collector) *outputStream {
	line := task.Line{Sweep: i.job.sweep, Index: i.attempt.Index, Attempt: i.attempt.Number,
		Host: w.o.Host, Slot: slot, Stderr: name == "stderr"}
	scanner := i.job.rules.NewScanner(time.Now, metrics.add(name))
	// escaped in JSON, or with terminal codes within, a value passes the mask
	scanner.Hide = textMask(i.secrets.sensitive())
	return &outputStream{
		path: logFile(dir, name), remaining: w.o.OutputLimit, ceiling: w.o.OutputLimit,
		mask:    newMask(i.secrets.sensitive()),
		scanner: scanner,
		tap:     outputTap{port: w.port, followed: &w.jobs.followed, now: time.Now, line: line},
	}
}
