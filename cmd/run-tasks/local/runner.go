package local

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api/server"
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

// Runner is master, queue and worker in this process, over the store of the current folder.
type Runner struct {
	store  *store.Store
	queue  *memory.Queue
	master *master.Master
	keeper *process.Keeper
	log    *slog.Logger

	attached *server.Attachments
	outputs  *worker.Lock // nil: it cannot be locked
	noRoom   chan string  // gets why, when the disk of outputs is full

	ctx    context.Context // of everything below; it ends when the master cannot go on
	cancel context.CancelCauseFunc
	parts  sync.WaitGroup // the master
	ended  error          // why the master could not go on, once parts are over
	stop   func()         // ends the worker
	worker sync.WaitGroup
	hangUp func() // ends the API
	api    sync.WaitGroup
}

// firstClient is how long a runner waits for the client that started it.
const firstClient = 30 * time.Second

// Run makes this process the runner of the current folder, which runs so many tasks at a time,
// until no client is attached and no sweep runs, or ctx ends. It says on standard output when it is
// ready, or why it cannot be: see readiness. It logs to standard error.
func Run(ctx context.Context, slots int, busy cli.GPUBusy) error {
	r, err := start(ctx)
	if err == nil {
		if err = r.work(slots, busy); err != nil {
			err = r.close(err)
		}
	}
	var problem strings.Builder
	said := readiness{Code: cli.Finish(&problem, program, err)}
	said.Error = problem.String()
	if inUse, is := errors.AsType[*store.InUse](err); is {
		said.InUse = strings.TrimPrefix(inUse.Error(), "the store is in use by ")
	}
	text, _ := json.Marshal(said) // strings and numbers can be
	patience := firstClient
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	if _, gone := fmt.Printf("%s\n", text); gone != nil {
		patience = 0 // who started this process has ended
	}
	if err != nil {
		return cli.Code(cli.Machine)
	}
	working, stop := cli.Interrupts(ctx, func() {
		r.keeper.KillAll()
		os.Exit(cli.Interrupted)
	})
	defer stop()
	r.serve(working, patience)
	err = r.failure()
	if err != nil {
		problem.Reset()
		cli.Finish(&problem, program, err)
		r.attached.Fail(problem.String())
		select { // who started this process is about to attach
		case <-r.attached.Came():
		case <-time.After(failureTime):
		}
	}
	return r.close(err)
}

// onEndLook is the time between looks whether what runs at the end of a sweep was submitted.
const onEndLook = 20 * time.Millisecond

// serve returns when no client is attached, no sweep runs and removed sweeps are gone, ctx ends, or
// the runner cannot go on.
// It waits with patience for the first client.
func (r *Runner) serve(ctx context.Context, patience time.Duration) {
	ctx, stop := context.WithCancel(ctx)
	defer context.AfterFunc(r.ctx, stop)()
	first := time.NewTimer(patience)
	defer first.Stop()
	for came := false; ctx.Err() == nil; came = true {
		for !r.idle() && ctx.Err() == nil {
			if running := r.Running(); len(running) > 0 {
				r.AwaitIdle(ctx, running[0])
			} else { // what runs at an end is about to be submitted
				r.master.AwaitOnEnds()
				select {
				case <-time.After(onEndLook):
				case <-ctx.Done():
				}
			}
		}
		r.master.AwaitRemovals(ctx)
		if came && r.attached.Close() {
			return
		}
		select {
		case <-r.attached.Left():
		case <-first.C:
		case <-ctx.Done():
		}
	}
}

// failure returns why the runner could not go on; nil if it could.
func (r *Runner) failure() error {
	if removed := r.store.Check(); removed != nil {
		return removed
	}
	if cause := context.Cause(r.ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// start takes the store, and starts the master and its API. The error is *store.InUse where another
// process has the store.
func start(ctx context.Context) (r *Runner, err error) {
	const name = RunnerCommand
	attached := server.NewAttachments()
	log := cli.Log(io.MultiWriter(attached, stamp{os.Stderr}))
	r = &Runner{queue: memory.New(), log: log, noRoom: make(chan string, 1), attached: attached,
		stop: func() {}, hangUp: func() {}}
	r.attached.Idle = r.idle
	r.attached.Kill = r.kill
	r.ctx, r.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := makeFolders(); err != nil {
		return nil, storeError(err)
	}
	if r.store, err = store.Open(ctx, StoreFolder(), "run-tasks "+name); err != nil {
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
	r.outputs, err = worker.Acquire(r.ctx, worker.FolderLock(OutputFolder()), holder)
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
	outputs, err := filepath.Abs(OutputFolder())
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
	listener, err := server.Listen(socketPath())
	if err != nil {
		return err
	}
	server := server.New(server.Options{Master: r.master, Store: &r.store.Reader, Broker: r.queue,
		MaxBody: maxBody, Program: cli.Version(), Attachments: r.attached, Log: r.log})
	// it outlives r.ctx: clients are told why that ended
	serving, hangUp := context.WithCancel(context.WithoutCancel(r.ctx))
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
	r.parts.Go(r.watchFolder)
	return nil
}

// work starts the worker, which runs so many tasks at a time.
func (r *Runner) work(slots int, busy cli.GPUBusy) error {
	outputs, err := filepath.Abs(OutputFolder())
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
	r.stop = stop
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

// end ends everything: attempts that still run are stopped with their grace.
func (r *Runner) end() error {
	r.stop()
	said := time.AfterFunc(time.Second, func() {
		r.log.Info("stopping processes that tasks left behind")
		r.attached.Linger()
	})
	r.worker.Wait()
	said.Stop()
	r.hangUp()
	r.api.Wait()
	if r.master != nil && r.ctx.Err() == nil {
		r.master.AwaitOnEnds()
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
	errs = append(errs, r.store.Close())
	if r.outputs != nil { // the last: clients wait for it
		errs = append(errs, r.outputs.Release())
	}
	return errors.Join(errs...)
}

// close ends the runner after it failed with err, or not, and returns that with what went wrong at
// the end: attempts that still run are stopped with their grace. That the master could not go on is
// the better error, but for one that says so already.
func (r *Runner) close(err error) error {
	closed := r.end()
	if _, told := errors.AsType[*cli.Error](err); err != nil && !told && r.ended != nil {
		err = r.ended
	}
	return errors.Join(err, closed)
}

// kill ends the attempts of a sweep at once.
func (r *Runner) kill(sweep string) {
	r.keeper.Kill(func(marks []string) bool {
		return slices.ContainsFunc(marks, func(m string) bool {
			return strings.HasPrefix(m, "TASK_ID="+sweep+"/")
		})
	})
}
