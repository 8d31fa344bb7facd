package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"mlframework/sweep/metric"
	"mlframework/sweep/metric/tail"
	"mlframework/sweep/task"
)

// MeasureTask reads the metrics of a task again from what its attempts left in its folder. Revision
// is as in [Options]. The error is fs.ErrNotExist if no attempt left its output there.
func MeasureTask(ctx context.Context, folder string, by task.Measure,
	revision func(string) (string, error)) (task.Measured, error) {
	fd, err := openTask(folder)
	if err != nil {
		return task.Measured{}, err
	}
	defer unix.Close(fd)
	return measure(ctx, fd, folder, by, revision)
}

// measure is MeasureTask for an open folder.
func measure(ctx context.Context, folder int, dir string, by task.Measure,
	revision func(string) (string, error)) (m task.Measured, err error) {
	rules, err := metric.Compile(by.Metrics)
	if err != nil {
		return m, err
	}
	newest, err := openNamed(folder, "stdout"+logSuffix(0), 0)
	if err != nil {
		return m, err
	}
	_ = newest.Close() // that it is there counts
	printed, err := earlierMetrics(ctx, folder, rules, by.Since)
	if err != nil {
		return m, err
	}
	printed.Attempt = newestIn(folder)
	err = readMetrics(ctx, folder, logSuffix(0), rules, printed,
		func(stream string, s *metric.Scanner) {
			unread := s.Unread()
			unread = unread[:min(len(unread), task.MaxUnread)]
			for i := range unread {
				if by.Hide {
					unread[i].Text = redacted
				}
			}
			if stream == "stdout" {
				m.Stdout = unread
			} else {
				m.Stderr = unread
			}
		})
	if err != nil {
		return m, err
	}
	files, err := measureFiles(ctx, dir, printed.Attempt, by, revision)
	m.Metrics = metric.Stored(metric.JoinFiles(printed.Final(), metric.Final(files.Metrics),
		by.Metrics))
	m.Unmeasured, m.Incomplete = files.Unmeasured, files.Incomplete
	return m, err
}

// openTask returns openFolder for the folder of a task. Its errors omit the name of the task, so
// that equal ones can be counted.
func openTask(base string, names ...string) (int, error) {
	fd, err := openFolder(base, names...)
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("open the folder: %w", failed.Err)
	} else if errors.Is(err, unix.ELOOP) {
		err = errors.New("the folder is a link, which is not followed")
	}
	return fd, err
}

// measureTask answers a request to measure a task.
func (r *readServer) measureTask(ctx context.Context, c task.Control, p *task.Piece) (err error) {
	p.ID = c.Measure.ID
	defer func() { // what a stranger wrote must not end the worker
		if fault := recover(); fault != nil {
			err = fmt.Errorf("fault in the worker: %v", fault)
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, task.MeasureTime,
		fmt.Errorf("not read within %v", task.MeasureTime))
	defer cancel()
	if err := checkName(c.Sweep); err != nil {
		return err
	}
	index := strconv.FormatInt(c.Index, 10)
	folder, err := openTask(r.outputs, c.Sweep, index)
	if err != nil {
		return err
	}
	defer unix.Close(folder)
	m, err := measure(ctx, folder, filepath.Join(r.outputs, c.Sweep, index), *c.Measure,
		r.revision)
	if err != nil {
		return err
	}
	if !isFolder(folder, r.outputs, c.Sweep, index) {
		return errors.New("the folder was replaced while it was read")
	}
	p.Measured = &m
	return nil
}

// measureFiles reads the metrics that programs wrote to files.
func measureFiles(ctx context.Context, dir string, attempt int, by task.Measure,
	revision func(string) (string, error)) (m task.Measured, err error) {
	var hide func(string) string
	if by.Hide {
		hide = func(string) string { return redacted }
	}
	folder, err := tail.Open(dir, by.Metrics, attempt, hide, func(metric.Sample) {})
	if folder == nil || err != nil {
		return m, err
	}
	if project, err := revision(by.Revision); err == nil { // else its files are gone
		folder.SetProject(func(path string) string { return filepath.Join(project, path) })
	}
	folder.End(ctx, by.Exited)
	m.Metrics, m.Unmeasured = metric.Stored(folder.Final()), folder.Problems()
	m.Incomplete = folder.Incomplete()
	return m, errors.Join(context.Cause(ctx), folder.Close())
}
