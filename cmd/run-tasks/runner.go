package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"mlframework/cmd/internal/cli"
	"mlframework/projects"
	"mlframework/sweep/api/server"
	"mlframework/sweep/master"
	"mlframework/sweep/queue/memory"
	"mlframework/sweep/store"
	"mlframework/sweep/worker"
	"mlframework/sweep/worker/process"
)

// localWorker is the name of the only worker of a local run.
const localWorker = "local"

// runner is master, queue and worker in this process, over the store of the current folder.
type runner struct {
	store  *store.Store
	queue  *memory.Queue
	master *master.Master
	keeper *process.Keeper
	log    *slog.Logger

	outputs *worker.Lock // nil: it cannot be locked
	noRoom  chan string  // gets why, when the disk of outputs is full

	ctx    context.Context // of everything below; it ends when the master cannot go on
	cancel context.CancelCauseFunc
	parts  sync.WaitGroup // the master
	ended  error          // why the master could not go on, once parts are over
	stop   func()         // ends the worker
	worker sync.WaitGroup
	hangUp func() // ends the API
	api    sync.WaitGroup
}

// newRunner takes the store and starts the master and its API. Work begins with work.
func newRunner(ctx context.Context, name string, log *slog.Logger) (r *runner, err error) {
	r = &runner{queue: memory.New(), log: log, noRoom: make(chan string, 1), stop: func() {}, hangUp: func() {}}
	r.ctx, r.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := makeFolders(); err != nil {
		return nil, storeError(err)
	}
	if r.store, err = store.Open(ctx, storeFolder, "run-tasks "+name); err != nil {
		return nil, storeError(err)
	}
	if r.store.Slow != "" {
		log.Info(r.store.Slow)
	}
	if err = r.holdOutputs(name); err == nil {
		err = r.endOrphans()
	}
	if err == nil {
		err = r.start()
	}
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// makeFolders makes what a run needs before anything is kept, so that a run which cannot be leaves nothing behind.
func makeFolders() error {
	if err := os.MkdirAll(storeFolder, 0o700); err != nil {
		return err
	}
	if err := os.MkdirAll(outputFolder, 0o700); err != nil {
		_ = os.Remove(storeFolder) // unless it holds something
		return err
	}
	hideFromGit(storeFolder)
	hideFromGit(outputFolder)
	return nil
}

// writable asks for the rights to write to a folder and to look names up in it: W_OK and X_OK of access(2).
const writable = 0x2 | 0x1

// outputsWritable refuses outputs in which no attempt could make its folder: each of them would be lost, one by one.
func outputsWritable() error {
	if info, err := os.Stat(outputFolder); err != nil || !info.IsDir() { // it is made, or that it cannot be is told
		return nil
	}
	err := syscall.Access(outputFolder, writable)
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: "write to", Path: outputFolder, Err: err}
}

// hideFromGit keeps a folder out of the repository that it may lie in. A run does not fail for it.
func hideFromGit(folder string) {
	path := filepath.Join(folder, ".gitignore")
	if _, err := os.Lstat(path); err != nil {
		_ = os.WriteFile(path, []byte("*\n"), 0o600)
	}
}

// holdOutputs keeps a second runner from the folder of outputs: one of another store, as where the folder of the store was
// removed while the first runs. Where outputs cannot be locked the lock of the store has to do.
func (r *runner) holdOutputs(name string) (err error) {
	holder := fmt.Sprintf("run-tasks %s (pid %d, since %s)", name, os.Getpid(), time.Now().Format(time.DateTime))
	r.outputs, err = worker.Acquire(r.ctx, worker.FolderLock(outputFolder), holder)
	inUse, ok := errors.AsType[*worker.InUse](err)
	if !ok {
		return nil
	}
	return &cli.Error{Code: cli.Machine, Err: fmt.Errorf("the outputs of this folder are %w", inUse),
		Remedy: "wait for that run, stop it, or use another folder"}
}

// endOrphans ends what an earlier run of this folder left, of which both processes were killed at once.
func (r *runner) endOrphans() error {
	outputs, err := filepath.Abs(outputFolder)
	if err != nil {
		return err
	}
	return worker.EndOrphans(r.ctx, localWorker, outputs, "", r.log)
}

func (r *runner) start() (err error) {
	if r.keeper, err = process.NewKeeper(r.log); err != nil {
		return err
	}
	r.master = master.New(master.Options{Store: r.store, Queue: r.queue, Log: r.log, Local: true})
	listener, err := server.Listen(socketPath, "")
	if err != nil {
		return err
	}
	server := server.New(server.Options{Master: r.master, Store: &r.store.Reader, Broker: r.queue,
		Program: cli.Version(), Log: r.log})
	serving, hangUp := context.WithCancel(r.ctx)
	r.hangUp = hangUp
	r.api.Go(func() {
		if err := server.Run(serving, listener); err != nil {
			r.log.Warn("nobody can follow this run any more", "error", err)
		}
	})
	r.parts.Go(func() {
		r.ended = r.master.Run(r.ctx)
		r.cancel(r.ended)
	})
	r.parts.Go(func() {
		if err := r.store.Watch(r.ctx, r.log); err != nil {
			r.cancel(err)
		}
	})
	return nil
}

// work starts the worker.
func (r *runner) work(slots int) error {
	outputs, err := filepath.Abs(outputFolder)
	if err != nil {
		return err
	}
	w := worker.New(r.queue.Worker(localWorker), worker.Options{
		Name: localWorker, Slots: slots, Outputs: outputs, Revision: revisionFolder, Rebuild: r.remake,
		Inherited: os.Environ(), OwnSecrets: true, SoleWorker: true, Keeper: r.keeper, Log: r.log,
		OnNoSpace: func(reason string) {
			select {
			case r.noRoom <- reason:
			default: // it is known
			}
		},
	})
	ctx, stop := context.WithCancel(r.ctx)
	r.stop = stop
	cli.Tune(slots)
	r.worker.Go(func() { w.Run(ctx) })
	return nil
}

// revisionFolder finds the files of a revision.
func revisionFolder(revision string) (string, error) {
	folder, err := filepath.Abs(filepath.Join(revisionsFolder, revision))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(folder); err != nil {
		return "", fmt.Errorf("the files of revision %s are gone: %w", revision, err)
	}
	return folder, nil
}

// remake makes the files of a revision anew, from the project of a sweep that runs them, if that has not changed since.
func (r *runner) remake(ctx context.Context, revision string) error {
	sweeps, err := r.store.List(ctx, "", 0)
	if err != nil {
		return err
	}
	err = errors.New("no sweep has its project: run a new one")
	for _, s := range slices.Backward(sweeps) { // the newest first
		if s.Outline.Revision != revision {
			continue
		}
		m, unread := projects.Scan(ctx, s.Outline.Project, projects.Options{})
		if unread != nil {
			err = unread
			continue
		}
		if m.Revision() != revision {
			err = fmt.Errorf("the project in %s has changed since: run a new sweep", s.Outline.Project)
			continue
		}
		if err := projects.Remove(revisionsFolder, revision); err != nil {
			return err
		}
		_, err = projects.Snapshot(ctx, m, revisionsFolder)
		return err
	}
	return err
}

// close ends everything: attempts that still run are stopped with their grace.
func (r *runner) close() error {
	r.stop()
	said := time.AfterFunc(time.Second, func() {
		r.log.Info("stopping processes that tasks left behind; press Ctrl-C twice to kill them")
	})
	r.worker.Wait()
	said.Stop()
	r.hangUp()
	r.api.Wait()
	if r.master != nil && r.ctx.Err() == nil {
		r.pauseAll("its run has ended")
	}
	r.cancel(nil)
	var errs []error
	r.parts.Wait()
	if r.keeper != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), 10*time.Second)
		defer cancel()
		errs = append(errs, r.keeper.Close(ctx))
	}
	if r.outputs != nil {
		errs = append(errs, r.outputs.Release())
	}
	return errors.Join(append(errs, r.store.Close())...)
}
