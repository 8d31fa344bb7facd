package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/queue/amqp"
	"mlframework/sweep/worker"
)

// locks are what keeps a second worker from the name and the folders of one that lives.
type locks struct {
	log     *slog.Logger
	started string // which process it is, and since when
	holder  string // what the second is told
	held    []*worker.Lock
}

// newLocks describes a worker to those who come after it. The pid is that of the process that was
// started by hand.
func newLocks(name, host string, executor bool, log *slog.Logger) *locks {
	pid := os.Getpid()
	if executor {
		pid = os.Getppid()
	}
	begun := started(pid)
	return &locks{log: log, started: begun,
		holder: fmt.Sprintf("worker %s on %s (%s)", name, host, begun)}
}

// gpuHolder describes a worker to others on its host whose tasks wait for its GPUs.
func gpuHolder(name, cluster, started string) string {
	text := "worker " + name
	if cluster != "" {
		text += " of cluster " + cluster
	}
	if u, err := user.Current(); err == nil {
		text += " of " + u.Username
	}
	return text + " (" + started + ")"
}

// started describes a process that starts now.
func started(pid int) string {
	process := fmt.Sprintf("pid %d", pid)
	if pid == 1 {
		process = "in a container" // in a container, every master and worker is process 1
	}
	return process + ", since " + time.Now().Format(time.DateTime)
}

// name takes the worker's name at its broker, for this machine.
func (l *locks) name(ctx context.Context, name, broker string) error {
	return l.take(ctx, worker.NameLock(name, broker), func(e *worker.InUse) error {
		return &cli.Error{Code: cli.Machine, Err: fmt.Errorf("%s already runs on this machine",
			cmp.Or(e.Holder, "worker "+name)),
			Remedy: "stop it first, or give this one a name and folders of its own: --name, " +
				"--outputs, --state"}
	})
}

// folder takes a folder.
func (l *locks) folder(ctx context.Context, path string) error {
	return l.take(ctx, worker.FolderLock(path), func(e *worker.InUse) error {
		return &cli.Error{Code: cli.Machine, Err: fmt.Errorf("%s is %w", path, e),
			Remedy: "stop that worker first, or give this one folders of its own: --outputs, " +
				"--state"}
	})
}

// apart refuses outputs within those of a worker that lives, or around them: each would take the
// other's for its own. It is called when the worker has its own locks, so that of two that start at
// once one sees the other.
func (l *locks) apart(outputs string) error {
	var near []string
	for at := filepath.Dir(outputs); ; at = filepath.Dir(at) {
		if near = append(near, at); at == filepath.Dir(at) {
			break
		}
	}
	entries, _ := os.ReadDir(outputs) // what cannot be read has no worker of this user
	for _, e := range entries {
		if e.IsDir() {
			near = append(near, filepath.Join(outputs, e.Name()))
		}
	}
	for _, at := range near {
		own := slices.ContainsFunc(l.held, func(h *worker.Lock) bool {
			return h.Path() == worker.FolderLock(at)
		})
		if holder := worker.Holder(worker.FolderLock(at)); !own && strings.HasPrefix(holder,
			"worker ") {
			return &cli.Error{Code: cli.Machine, Err: fmt.Errorf("%s lies within the outputs of "+
				"another worker, or around them: %s is in use by %s", outputs, at, holder),
				Remedy: "give this one a folder of its own, beside that: --outputs"}
		}
	}
	return nil
}

// elsewhere fails when a process on another machine, or in another container, has the worker's
// name: then tasks would go to both, each of which the master does not see in the other. It waits
// for as long as the broker may take a dead process for one that lives. A broker that is away says
// nothing; the master sees two of one name later.
func (l *locks) elsewhere(ctx context.Context, name string, o amqp.Options) error {
	for end := time.Now().Add(amqp.DeadPeerTimeout); ; {
		asking, cancel := context.WithTimeout(ctx, amqp.DeadPeerTimeout/4)
		taken, err := amqp.HasConsumer(asking, name, o)
		cancel()
		if err != nil || !taken || ctx.Err() != nil {
			return nil
		}
		if time.Now().After(end) {
			return &cli.Error{Code: cli.Machine, Err: fmt.Errorf("another process takes the "+
				"tasks of worker %s, on another machine or in another container", name),
				Remedy: "stop that worker first, or give this one a name of its own: --name"}
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// take fails only when a living worker holds the lock: on a file system without locks a worker
// works all the same.
func (l *locks) take(ctx context.Context, path string, refuse func(*worker.InUse) error) error {
	lock, err := worker.Acquire(ctx, path, l.holder)
	if inUse, ok := errors.AsType[*worker.InUse](err); ok {
		return refuse(inUse)
	}
	if err != nil {
		l.log.Warn("cannot detect another worker with the same name or folder", "error", err)
		return nil
	}
	l.held = append(l.held, lock)
	return nil
}

// release gives all of them back.
func (l *locks) release() {
	for _, lock := range l.held {
		_ = lock.Release() // the end of the process does it, too
	}
}
