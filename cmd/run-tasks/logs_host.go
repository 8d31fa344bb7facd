package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"mlframework/infra"
	"mlframework/sweep/api"
)

// hostLogs prints the output of a task's newest attempt from its files on the host of the worker,
// as after that worker was removed. Where err is another one than that the worker cannot be asked,
// or the host cannot be asked either, it returns err.
func (m *remote) hostLogs(ctx context.Context, host string, l outputQuery, err error) error {
	e, refused := errors.AsType[*api.Error](err)
	if !refused || e.Status != http.StatusServiceUnavailable || m.cluster == nil || l.attempt != 0 {
		return err
	}
	dir, failed := os.MkdirTemp("", "run-tasks-logs-")
	if failed != nil {
		return failed
	}
	defer os.RemoveAll(dir)
	streams := map[string]io.Writer{"stdout.log": l.stdout, "stderr.log": l.stderr}
	of := infra.Outputs{Sweep: l.id.Sweep, Files: []string{"/stdout.log", "/stderr.log"}}
	m.cluster.fetching.Lock() // tails of several tasks may come here
	defer m.cluster.fetching.Unlock()
	done, failed := m.cluster.Fetch(ctx, of, dir,
		[]infra.FetchRequest{{Host: host, Tasks: []int64{l.id.Index}}}, nil, nil)
	if failed != nil || len(done) == 0 || done[0].Files == 0 {
		return err
	}
	for name, to := range streams {
		file, failed := os.Open(filepath.Join(dir, l.id.Sweep, strconv.FormatInt(l.id.Index, 10),
			name))
		if errors.Is(failed, fs.ErrNotExist) {
			continue
		}
		if failed != nil {
			return failed
		}
		_, failed = io.Copy(to, file)
		if file.Close(); failed != nil {
			return failed
		}
	}
	return nil
}
