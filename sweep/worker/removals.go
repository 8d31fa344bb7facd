package worker

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
	"mlframework/sweep/worker/folder"
)

// removals serves requests to remove the outputs of sweeps, one after the other.
type removals struct {
	port      queue.WorkerEndpoint
	log       *slog.Logger
	worker    string
	outputs   string
	scheduler *scheduler
	requests  chan task.Control
}

func (r *removals) init(port queue.WorkerEndpoint, o Options, s *scheduler) {
	r.port, r.log, r.worker, r.outputs, r.scheduler = port, o.Log, o.Name, o.Outputs, s
	r.requests = make(chan task.Control, maxReads)
}

// enqueue queues a request. If the queue is full, the request is dropped, and the master repeats it.
func (r *removals) enqueue(c task.Control) {
	if c.Remove == nil {
		return
	}
	select {
	case r.requests <- c:
	default:
	}
}

// run serves requests until ctx ends.
func (r *removals) run(ctx context.Context) {
	for {
		select {
		case c := <-r.requests:
			r.answer(ctx, c)
		case <-ctx.Done():
			return
		}
	}
}

func (r *removals) answer(ctx context.Context, c task.Control) {
	p := task.Piece{Version: task.Version, Worker: r.worker, ID: c.Remove.ID}
	if err := r.remove(ctx, c.Sweep, c.Remove.Tasks); err != nil {
		p.Error = printable(err.Error())
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	if err := r.port.SendPiece(ctx, p); err != nil { // the master asks again
		r.log.Warn("cannot tell the master that outputs were removed", "sweep", c.Sweep, "error", err)
	}
}

// Why outputs are not removed yet.
var (
	errStillRuns   = errors.New("a task is still being stopped")
	errBeingCopied = errors.New("somebody copies the outputs")
)

// remove removes the folder of a sweep, or those of some of its tasks, unless a task of the sweep
// runs or somebody copies from the folder: who does has a shared lock on it. It stops between two
// tasks when ctx ends.
func (r *removals) remove(ctx context.Context, sweep string, tasks [][2]int64) error {
	if err := checkName(sweep); err != nil {
		return err
	}
	if r.scheduler.occupied(sweep) {
		return errStillRuns
	}
	dir := filepath.Join(r.outputs, sweep)
	fd, err := openFolder(r.outputs, sweep)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR) {
		return os.Remove(dir) // a link that somebody put there, and not what it leads to
	} else if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), dir)
	defer f.Close()
	// where the file system has no locks nobody has one
	if err := syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB); err == syscall.EWOULDBLOCK {
		return errBeingCopied
	}
	if len(tasks) == 0 {
		return folder.Remove(ctx, dir)
	}
	names, err := f.Readdirnames(-1)
	for _, name := range names {
		if isOf(name, tasks) && err == nil {
			err = folder.Remove(ctx, filepath.Join(dir, name))
		}
	}
	return err
}

// isOf reports whether a name is that of the folder of one of the tasks, or of one that is kept
// beside it: see keptFolder.
func isOf(name string, tasks [][2]int64) bool {
	number, _, _ := strings.Cut(name, ".")
	index, err := strconv.ParseInt(number, 10, 64)
	return err == nil && slices.ContainsFunc(tasks,
		func(r [2]int64) bool { return r[0] <= index && index < r[1] })
}

// occupied reports whether an attempt of a sweep is in a slot, or waits for one.
func (s *scheduler) occupied(sweep string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.running {
		if k.sweep == sweep {
			return true
		}
	}
	for k := range s.claimed {
		if k.sweep == sweep {
			return true
		}
	}
	for i := range s.waiting {
		if s.waiting[i].job.sweep == sweep {
			return true
		}
	}
	return false
}
