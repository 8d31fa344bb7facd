package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"mlframework/sweep/argv"
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
		w.desk.end(i, o, false)
	}
	w.desk.free(i)
}

// attempt is run without the telling, but where that is due earlier.
func (w *Worker) attempt(ctx context.Context, i item, slot int) (o task.Outcome, told bool) {
	j := i.job
	if j.err != nil {
		return w.cannotBegin(ctx, i, j.err)
	}
	if i.lot != nil && i.lot.err != nil {
		return infra(i.lot.err), false
	}
	c, err := j.enter(ctx, i.attempt)
	if err != nil {
		return w.cannotBegin(ctx, i, err)
	}
	w.ahead.begin(slot, j)
	o, told = w.runIn(ctx, i, slot, c)
	w.ahead.end(slot)
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
	given, err := argv.Of(j.recipe, w.placeOf(i, slot, dir), i.attempt, j.config)
	if err == nil {
		err = writeGiven(dir, given)
	}
	if err != nil {
		return w.cannotBegin(ctx, i, err)
	}
	var unread error // what earlier attempts printed, and cannot be read
	if c.Resumed {
		unread = metrics.goOn(ctx, dir)
	}
	metrics.files = w.followFiles(i, c, metrics)
	defer metrics.files.close()
	w.begun.note(slot, w.desk.begin(i, task.Start{Host: w.o.Host, Slot: slot, Resumed: c.Resumed, Image: w.o.Image}))
	finish := func(exit process.Exit) task.Outcome {
		kept := errors.Join(exit.OutputErr, stdout.end(), stderr.end())
		if noSpace(kept) && w.desk.full(w.fullDisk()) {
			w.slots.Go(func() { w.noRoom(ctx) }) // the end is not kept back by it
		}
		o := outcome(exit, j.recipe.Timeout)
		metrics.files.end(o.Exited())
		metrics.flush()
		reason(&o, exit, stdout, stderr)
		o.Metrics, o.Stdout, o.Stderr = metrics.final(), stdout.out, stderr.out
		o.Unmeasured, o.Thinned = metrics.files.problems(o.Class), metrics.series.Thinned()
		if unread != nil {
			o.Unmeasured = append(o.Unmeasured,
				fmt.Sprintf("the metrics of earlier attempts cannot be read: %v", unread))
		}
		if kept != nil {
			o.Reason = join(o.Reason, fmt.Sprintf("output not kept in full: %v", kept))
		}
		return o
	}
	exit := w.o.Keeper.Run(ctx, process.Spec{
		Argv:    given.Argv,
		Env:     append(j.own(i, slot, w.desk.size(), c, given.Env), i.lot.environ(secrets)...),
		Dir:     c.Workdir,
		Own:     own(dir, secrets),
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
			w.desk.end(i, o, true)
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

// placeOf is what stands for names in braces in an attempt.
func (w *Worker) placeOf(i item, slot int, dir string) task.Place {
	id := task.ID{Sweep: i.job.sweep, Index: i.attempt.Index}
	return task.Place{Host: w.o.Host, Slot: strconv.Itoa(slot), Index: strconv.FormatInt(id.Index, 10), Output: dir, Task: id.String()}
}

// own are the folders of one attempt alone: the task's, and that of its secrets, which may be "".
func own(dir, secrets string) []string {
	if secrets == "" {
		return []string{dir}
	}
	return []string{dir, secrets}
}

// writeGiven writes the files that an attempt is given into the task's folder.
func writeGiven(dir string, g argv.Given) error {
	if g.File != nil {
		if err := writeFile(dir, g.To, g.File); err != nil {
			return err
		}
	}
	// What has this name already is of an earlier attempt, or the project's or the program's own.
	name := dir + "/" + argv.ParametersFile
	err := create(name, g.Parameters)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if isPart(name, g.Parameters) {
		return errors.Join(os.Remove(name), create(name, g.Parameters))
	}
	return nil
}

// writeFile writes a file below a task's folder, in place of whatever is there. An earlier attempt may have put anything in its
// way: links that lead out of the folder are replaced, too.
func writeFile(dir, path string, text []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for at, c := range path {
		if c != '/' {
			continue
		}
		if info, err := root.Stat(path[:at]); err == nil && info.IsDir() {
			continue
		}
		if err := root.RemoveAll(path[:at]); err != nil {
			return err
		}
		if err := root.Mkdir(path[:at], 0o755); err != nil {
			return err
		}
	}
	if err := root.RemoveAll(path); err != nil {
		return err
	}
	return root.WriteFile(path, text, 0o644)
}

// isPart reports whether a file has a part of a text: its writer was killed.
func isPart(name string, text []byte) bool {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() >= int64(len(text)) {
		return false
	}
	part, err := os.ReadFile(name)
	return err == nil && bytes.HasPrefix(text, part)
}

// create writes a file that is not there. Each attempt has one: an os.File would cost half as much again.
func create(name string, text []byte) error {
	wrong := func(op string, err error) error { return &os.PathError{Op: op, Path: name, Err: err} }
	fd, err := unix.Open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o644)
	for err == unix.EINTR {
		fd, err = unix.Open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o644)
	}
	if err != nil {
		return wrong("create", err)
	}
	for len(text) > 0 && err == nil {
		var n int
		if n, err = unix.Write(fd, text); err == unix.EINTR {
			err = nil
		}
		text = text[max(n, 0):]
	}
	if closed := unix.Close(fd); err == nil && closed != unix.EINTR {
		err = closed
	}
	if err != nil {
		_ = unix.Unlink(name) // a part of it would be taken for all of it
		return wrong("write", err)
	}
	return nil
}

// cannotBegin is the end of an attempt that could not begin. Where its definition names what is not there the task has failed: its
// host is as able as others. One for which the disk of outputs has no space is given back, uncharged, as everything is until
// there is some. Another disk may be full, too: that is a fault of the host.
func (w *Worker) cannotBegin(ctx context.Context, i item, err error) (o task.Outcome, told bool) {
	if folder.Misfit(err) || argv.IsFault(err) {
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
	scanner := i.job.rules.NewScanner(time.Now, metrics.add(name))
	scanner.Hide = hiding(i.lot.hidden()) // escaped in JSON, or with terminal codes within, a value passes the mask
	return &stream{
		path: logFile(dir, name), left: w.o.Ceiling, ceiling: w.o.Ceiling, mask: newMask(i.lot.hidden()),
		scanner: scanner,
		tap:     tap{port: w.port, following: &w.jobs.following, now: time.Now, line: line},
	}
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
