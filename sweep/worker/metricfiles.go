package worker

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"mlframework/sweep/metric"
	"mlframework/sweep/metric/tail"
	"mlframework/sweep/task"
	"mlframework/sweep/worker/folder"
)

const (
	// filesEvery is how often metric files are read while an attempt runs, filesAtATime how much of
	// them each time, and filesAtEnd how long reading may take at its end.
	filesEvery   = time.Second
	filesAtATime = 16 << 20 // bytes
	filesAtEnd   = time.Minute
)

// metricFiles reads metrics that the program of an attempt writes to files. A nil *metricFiles has
// none.
type metricFiles struct {
	mu     sync.Mutex
	folder *tail.Folder
	// why nothing is read
	err error
	// why reading has stopped
	fault error
	stop  context.CancelFunc
	ended chan struct{}
}

// followFiles starts to read the metric files of an attempt whose program is about to start; nil if
// its definition names none.
func (w *Worker) followFiles(i item, ws *folder.Workspace, metrics *collector) *metricFiles {
	if !i.job.metricFiles {
		return nil
	}
	m := &metricFiles{ended: make(chan struct{})}
	m.folder, m.err = tail.Open(ws.Dir, i.job.recipe.Metrics, i.attempt.Number,
		textMask(i.secrets.sensitive()), metrics.add(""))
	if m.err != nil {
		return m
	}
	project, _ := w.o.Revision(i.job.recipe.Revision) // cannot fail: the folder is a copy of it
	earlier := 0
	if ws.Resumed {
		earlier = i.attempt.Number // the worker was killed before it recorded the start
		if folder, err := openFolder(ws.Dir); err == nil {
			if logs, _ := earlierLogs(folder); len(logs) > 0 {
				earlier = logs[len(logs)-1].attempt
			}
			unix.Close(folder)
		}
		if earlier < i.attempt.Since {
			earlier = -earlier
		}
	}
	m.folder.SetBaseline(earlier, func(path string) string { return filepath.Join(project, path) })
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	go m.run(ctx)
	return m
}

func (m *metricFiles) run(ctx context.Context) {
	defer close(m.ended)
	ticks := time.NewTicker(filesEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			m.guard(func() { m.folder.Poll(ctx, filesAtATime) })
		case <-ctx.Done():
			return
		}
	}
}

// final returns the values read so far.
func (m *metricFiles) final() metric.Final {
	if m == nil || m.folder == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.folder.Final()
}

// end reads the rest; exited says that the program ended by itself.
func (m *metricFiles) end(exited bool) {
	if m == nil || m.folder == nil {
		return
	}
	m.stop()
	<-m.ended
	ctx, cancel := context.WithTimeout(context.Background(), filesAtEnd)
	defer cancel()
	m.guard(func() { m.folder.End(ctx, exited) })
}

// guard contains panics while reading untrusted files, so that they cannot end the worker.
func (m *metricFiles) guard(read func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer func() {
		if fault := recover(); fault != nil {
			m.fault = fmt.Errorf("fault in the worker: %v", fault)
		}
	}()
	if m.fault == nil {
		read()
	}
}

// problems explains missing metrics of a program that succeeded or timed out. Other programs may
// have ended before they wrote any.
func (m *metricFiles) problems(class task.Class) []string {
	switch {
	case m == nil || class != task.Success && class != task.TimedOut:
		return nil
	case m.err != nil:
		return []string{"the files of metrics cannot be read: " + m.err.Error()}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fault != nil {
		return []string{"the files of metrics cannot be read: " + m.fault.Error()}
	}
	return m.folder.Problems()
}

func (m *metricFiles) close() {
	if m != nil && m.folder != nil {
		_ = m.folder.Close() // it was only read
	}
}
