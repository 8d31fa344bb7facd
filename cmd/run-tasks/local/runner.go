package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api/server"
	"mlframework/sweep/listing"
	"mlframework/sweep/master"
	"mlframework/sweep/queue/memory"
	"mlframework/sweep/store"
	"mlframework/sweep/worker"
	"mlframework/sweep/worker/process"
)

// workerName is the name of the only worker.
const workerName = "local"

// maxBody bounds what the runner is sent at once, in bytes: its clients are processes of its user,
// who may have a file of parameters of any length.
const maxBody = 1 << 30

// Runner is master, queue and worker in this process, over the store of the current folder. Close
// it at the end.
type Runner struct {
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
	works  bool           // the worker was started
	worker sync.WaitGroup
	hangUp func() // ends the API
	api    sync.WaitGroup
}

// Start makes this process the runner: it takes the store, and starts the master and its API. Work
// starts the worker. Name is what others are told that it runs. The error is *store.InUse where
// another process has the store.
func Start(ctx context.Context, name string, log *slog.Logger) (r *Runner, err error) {
	r = &Runner{queue: memory.New(), log: log, noRoom: make(chan string, 1),
		stop: func() {}, hangUp: func() {}}
	r.ctx, r.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := makeFolders(); err != nil {
		return nil, storeError(err)
	}
	if r.store, err = store.Open(ctx, StoreFolder, "run-tasks "+name); err != nil {
		return nil, storeError(err)
	}
	if r.store.Slow != "" {
		log.Info(r.store.Slow)
	}
	if err = r.holdOutputs(name); err == nil {
		err = r.endLeftovers()
	}
	if err == nil {
		err = r.start()
	}
	if err != nil {
		return nil, errors.Join(err, r.end())
	}
	return r, nil
}

// holdOutputs keeps a second runner from the folder of outputs: one of another store, as where the
// folder of the store was removed while the first runs. Where outputs cannot be locked the lock of
// the store has to do.
func (r *Runner) holdOutputs(name string) (err error) {
	holder := fmt.Sprintf("run-tasks %s (pid %d, since %s)", name, os.Getpid(),
		time.Now().Format(time.DateTime))
	r.outputs, err = worker.Acquire(r.ctx, worker.FolderLock(OutputFolder), holder)
	inUse, ok := errors.AsType[*worker.InUse](err)
	if !ok {
		return nil
	}
	return &cli.Error{Code: cli.Machine,
		Err:    fmt.Errorf("the outputs of this folder are %w", inUse),
		Remedy: "wait for that run, stop it, or use another folder"}
}

// endLeftovers ends what an earlier run of this folder left, of which both processes were killed at
// once.
func (r *Runner) endLeftovers() error {
	outputs, err := filepath.Abs(OutputFolder)
	if err != nil {
		return err
	}
	return worker.EndLeftovers(r.ctx, workerName, outputs, "", r.log)
}

func (r *Runner) start() (err error) {
	if r.keeper, err = process.NewKeeper(r.log); err != nil {
		return err
	}
	r.master = master.New(master.Options{Store: r.store, Queue: r.queue, Log: r.log, Local: true})
	listener, err := server.Listen(socketPath)
	if err != nil {
		return err
	}
	server := server.New(server.Options{Master: r.master, Store: &r.store.Reader, Broker: r.queue,
		MaxBody: maxBody, Program: cli.Version(), Log: r.log})
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

// Work starts the worker, which runs so many tasks at a time.
func (r *Runner) Work(slots int, busy cli.GPUBusy) error {
	outputs, err := filepath.Abs(OutputFolder)
	if err != nil {
		return err
	}
	w := worker.New(r.queue.Worker(workerName), worker.Options{
		Name: workerName, Slots: slots, Outputs: outputs, Revision: RevisionFolder,
		Rebuild: r.remake, Inherited: os.Environ(), OwnSecrets: true, SoleWorker: true,
		Keeper: r.keeper, Log: r.log, GPUs: worker.DetectGPUs,
		GPULocks: worker.GPULockFolder(os.Environ()), GPUHolder: gpuHolder(),
		GPUBusyAbove: busy.Above, IgnoreGPULocks: busy.IgnoreLocks,
		OnNoSpace: func(reason string) {
			select {
			case r.noRoom <- reason:
			default: // it is known
			}
		},
	})
	ctx, stop := context.WithCancel(r.ctx)
	r.stop, r.works = stop, true
	cli.Tune(cmp.Or(slots, runtime.NumCPU()))
	r.worker.Go(func() { w.Run(ctx) })
	r.parts.Go(r.pauseWithoutRoom)
	return nil
}

// gpuHolder describes this run to others on this machine whose tasks wait for its GPUs.
func gpuHolder() string {
	text := "run-tasks"
	if u, err := user.Current(); err == nil {
		text += " of " + u.Username
	}
	if folder, err := os.Getwd(); err == nil {
		text += " in " + folder
	}
	return fmt.Sprintf("%s (pid %d)", text, os.Getpid())
}

// Works reports whether the worker was started. Without it no sweep goes on.
func (r *Runner) Works() bool { return r.works }

// end ends everything: attempts that still run are stopped with their grace.
func (r *Runner) end() error {
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
		r.master.AwaitNotices()
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

// Close ends the runner after something was done with it, or failed with err, and returns that with
// what went wrong at the end: attempts that still run are stopped with their grace. That the master
// could not go on is the better error, but for one that says so already.
func (r *Runner) Close(err error) error {
	closed := r.end()
	if _, told := errors.AsType[*cli.Error](err); err != nil && !told && r.ended != nil {
		err = r.ended
	}
	return errors.Join(err, closed)
}

// Kill ends all processes of tasks: nothing is waited for. The store is whole at every moment.
func (r *Runner) Kill() { r.keeper.KillAll() }

// Context ends when the runner does, with the reason as its cause.
func (r *Runner) Context() context.Context { return r.ctx }

// Within returns a context that ends with another, and with the runner.
func (r *Runner) Within(ctx context.Context) (context.Context, func()) {
	inner, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(r.ctx, func() { cancel(context.Cause(r.ctx)) })
	return inner, func() { stop(); cancel(nil) }
}

// Archive answers questions about the sweeps of the folder.
func (r *Runner) Archive() *listing.Archive { return &listing.Archive{Store: &r.store.Reader} }

// Err returns why the runner could not go on, where that is why something failed with err. It is
// *store.Removed where the store was removed, also when nothing failed yet.
func (r *Runner) Err(err error) error {
	if removed := r.store.Check(); removed != nil {
		return removed
	}
	cause := context.Cause(r.ctx)
	if err != nil && cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}
