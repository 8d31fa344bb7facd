package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/local"
	"mlframework/sweep/api"
	"mlframework/sweep/human"
	"mlframework/sweep/metric"
	metricfiles "mlframework/sweep/metric/tail"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

// task looks at both streams of each attempt that ran in the newest one's folder, as a sweep does:
// the one after the other, as nothing tells in which order their lines came.
func (t *metricTest) task(ctx context.Context, src source, of api.Task) error {
	id, err := task.ParseID(of.Row.ID)
	if err != nil {
		return err
	}
	var missing []string
	earlier := slices.DeleteFunc(earlierAttempts(of.Attempts), func(n int) bool {
		return n < of.Since
	})
	newest := 0
	if n := len(of.Attempts); n > 0 {
		newest = of.Attempts[n-1].Attempt
	}
	for _, n := range append(earlier, 0) {
		t.series.Attempt = cmp.Or(n, newest)
		t.unread = nil // what an earlier attempt printed last is not what the results warn of
		if err := t.attempt(ctx, src, id, n); n > 0 && hasNoOutput(err) {
			missing = append(missing, fmt.Sprintf("WARNING: attempt %d was not read: %v", n, err))
		} else if err != nil {
			return err
		}
	}
	read := len(earlier) - len(missing) + 1
	if t.unread = append(missing, t.unread...); read > 1 {
		t.unread = append(t.unread, fmt.Sprintf("%s of %s were searched, as for its results: the "+
			"newest went on in the folder of the others", human.Plural(int64(read), "attempt"), id))
	}
	if src.folder(id.Sweep) == "" {
		return nil
	}
	end := task.Outcome{Class: task.Class(of.Row.Class), ExitCode: of.Row.ExitCode}
	return t.readFiles(ctx, local.TaskFolder(id), newest, end.Exited())
}

// attempt looks at both streams of an attempt; 0 is the newest.
func (t *metricTest) attempt(ctx context.Context, src source, id task.ID, n int) error {
	dir := local.TaskFolder(id)
	if n > 0 && src.folder(id.Sweep) != "" &&
		worker.LogFile(dir, "stdout", n) == worker.LogFile(dir, "stdout", 0) {
		return cli.Wrong("", "what it printed is not in %s any more", dir)
	}
	err := t.scan("stdout", func(w io.Writer) error {
		return src.logs(ctx, outputQuery{id: id, attempt: n, stdout: w})
	})
	if err != nil {
		return err
	}
	return t.scan("stderr", func(w io.Writer) error {
		return src.logs(ctx, outputQuery{id: id, attempt: n, stderr: w})
	})
}

// scan looks at one stream, which has a name unless it is the only one.
func (t *metricTest) scan(stream string, read func(io.Writer) error) error {
	var bad error
	scanner := t.rules.NewScanner(time.Now, func(s metric.Sample) {
		s.Stream = stream
		t.series.Add(s)
		if t.json {
			bad = errors.Join(bad, encode(t.stdout, s))
		}
	})
	if err := errors.Join(read(scanner), scanner.Close(), bad); err != nil {
		return err
	}
	of := ""
	if stream != "" {
		of = " of " + stream
	}
	for _, no := range scanner.Rejected() {
		t.unread = append(t.unread, fmt.Sprintf("%s: %s matched but is not a number, the first in "+
			"line %d%s: %s", cli.Visible(no.Name), human.Plural(no.Count, "line"), no.Line, of,
			cli.Visible(no.Text)))
	}
	return nil
}

// readFiles looks at the files in a task's folder that metrics are read from. Values of secrets are
// not known here: where the tasks have some, nothing is quoted from files.
func (t *metricTest) readFiles(ctx context.Context, dir string, attempt int,
	exited bool) error {
	var bad error
	var hide func(string) string
	if len(t.record.Recipe.Secrets) > 0 {
		hide = func(string) string { return "********" }
	}
	emit := func(s metric.Sample) {
		if t.json {
			bad = errors.Join(bad, encode(t.stdout, s))
		}
	}
	folder, err := metricfiles.Open(dir, t.record.Recipe.Metrics, attempt, hide, emit)
	if folder == nil || err != nil {
		return err
	}
	folder.End(ctx, exited)
	t.files = folder
	for _, text := range folder.Problems() {
		t.unread = append(t.unread, cli.Visible(text))
	}
	return bad
}

// hasNoOutput reports whether the output of an attempt is not there.
func hasNoOutput(err error) bool {
	here, _ := errors.AsType[*cli.Error](err)
	there, _ := errors.AsType[*api.Error](err)
	return here != nil && here.Code == cli.Usage ||
		there != nil && there.Status == http.StatusNotFound
}

// earlierAttempts are the numbers of those that ran in the folder in which the newest one went on,
// the oldest first.
func earlierAttempts(all []api.Attempt) (numbers []int) {
	all = slices.DeleteFunc(slices.Clone(all), func(a api.Attempt) bool { return a.Host == nil })
	if len(all) == 0 {
		return nil
	}
	newest := all[len(all)-1]
	resumed := newest.Resumed
	for _, a := range slices.Backward(all) {
		if !resumed {
			break
		}
		if a.Worker == newest.Worker && a.Attempt != newest.Attempt &&
			!slices.Contains(numbers, a.Attempt) {
			numbers, resumed = append(numbers, a.Attempt), a.Resumed
		}
	}
	slices.Reverse(numbers)
	return numbers
}
