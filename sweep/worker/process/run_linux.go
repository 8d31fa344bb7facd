package process

import (
	"context"
	"encoding/binary"
	"errors"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// run is a call of Run. Its fields belong to the goroutine of that call, except for those that
// Keeper.mu guards.
type run struct {
	k    *Keeper
	spec *Spec
	exit Exit
	// -1 if the kernel has none
	pidfd int
	waker int // event descriptor that interrupts poll
	// by Keeper.Kill
	killed atomic.Bool
	// without pidfd: waitForExit has seen the end
	dead atomic.Bool
	// without pidfd: closed when waitForExit returns
	waiting chan struct{}
	status  syscall.WaitStatus
	reaped  bool
	ended   time.Time // when it was reaped
	// exit has what status says
	completed bool
	output    pump
	ending

	// Written under Keeper.mu
	program
	group *cgroup // nil: none
}

// run runs the program of spec, which is in file: see Run.
func (k *Keeper) run(ctx context.Context, spec *Spec, file string) Exit {
	r := &run{k: k, spec: spec, pidfd: -1, waker: -1, exit: Exit{Code: -1},
		program: program{marks: spec.Marks}}
	if err := k.enter(r); err != nil {
		return badHost(spec.Argv[0], err)
	}
	defer k.leave(r)
	if problem := r.start(file); problem != nil {
		return *problem
	}
	if spec.Started != nil {
		spec.Started(r.pid)
	}
	defer r.wakeWhenDone(ctx)()
	r.loop(ctx)
	return r.result()
}

// enter registers a run. It fails if the Keeper is closed.
func (k *Keeper) enter(r *run) (err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed.Load() {
		return ErrClosed
	}
	if n := len(k.freeWakers); n > 0 {
		r.waker, k.freeWakers = k.freeWakers[n-1], k.freeWakers[:n-1]
	} else if r.waker, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return err
	}
	if r.group = k.cgroups.take(); r.group != nil {
		r.cgroup = r.group.path
	}
	k.active.Add(1)
	r.tag = k.newTag()
	k.runs[r] = struct{}{}
	return nil
}

func (k *Keeper) leave(r *run) {
	r.output.close()
	for _, fd := range r.heads {
		closeFD(fd)
	}
	if r.pidfd >= 0 {
		unix.Close(r.pidfd)
	}
	if r.waiting != nil && r.reaped {
		<-r.waiting
	}
	k.mu.Lock()
	k.forget(r)
	if r.waiting == nil || r.reaped {
		k.freeWakers = append(k.freeWakers, r.waker)
	}
	k.mu.Unlock()
	k.cgroups.put(r.group)
	k.active.Done()
}

// start starts the program. On success r is in the tables.
func (r *run) start(file string) (problem *Exit) {
	outputs, err := r.output.open(r.k.nullFD, r.spec.Stdout, r.spec.Stderr)
	if err != nil {
		e := badHost(r.spec.Argv[0], err)
		return &e
	}
	attr := &syscall.ProcAttr{
		Dir: r.spec.Dir, Env: r.spec.Env,
		Files: []uintptr{uintptr(r.k.nullFD), uintptr(outputs[0]), uintptr(outputs[1])},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	}
	if r.k.pidfds {
		attr.Sys.PidFD = &r.pidfd
	}
	if r.group != nil {
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, r.group.fd
	}
	for try := 0; ; try++ {
		err = r.fork(file, attr)
		if r.group != nil && hasLostCgroup(err) {
			r.group.close()
			r.group, attr.Sys.UseCgroupFD = nil, false
			continue
		}
		// Another fork of this process may hold a file open that was written a moment ago:
		// go.dev/issue/22315.
		if !errors.Is(err, syscall.ETXTBSY) || try == 8 {
			break
		}
		time.Sleep(time.Millisecond << try) // 255 ms together
	}
	if err != nil {
		e := startFailure(r.spec, file, err)
		return &e
	}
	r.setTag()
	if !r.k.pidfds {
		r.waiting = make(chan struct{})
		go r.waitForExit()
	}
	return nil
}

func (r *run) fork(file string, attr *syscall.ProcAttr) error {
	k := r.k
	k.mu.Lock()
	if k.closed.Load() {
		k.mu.Unlock()
		return ErrClosed
	}
	r.startTicks = ticksSinceBoot()
	k.mu.Unlock()

	r.exit.Started = time.Now()
	pid, err := k.forkExec(file, r.spec, attr)

	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		r.pid = pid
		k.roots[pid] = r
		delete(k.adopted, pid) // the sweep may have listed it since the fork
	}
	return err
}

func ticksSinceBoot() uint64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0 // older than every process
	}
	return uint64(now.Nano()) / clockTick
}

// wakeWhenDone makes the end of ctx interrupt poll, until the function that it returns is called.
func (r *run) wakeWhenDone(ctx context.Context) func() {
	if ctx.Done() == nil {
		return func() {}
	}
	woken := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(woken)
		r.wake()
	})
	return func() {
		if !cancel() {
			<-woken
		}
	}
}

func (r *run) wake() {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	_, _ = unix.Write(r.waker, one[:]) // eventfd(2)
}

// waitForExit replaces the pidfd of newer kernels. It leaves the reaping to the run. The waker
// stays valid meanwhile: leave waits for it, or does not reuse the waker.
func (r *run) waitForExit() {
	for {
		err := unix.Waitid(unix.P_PID, r.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			break
		}
	}
	r.dead.Store(true)
	r.wake()
	close(r.waiting)
}

// result completes the Exit of a program that has ended.
func (r *run) result() Exit {
	r.output.drain()
	r.exit.OutputErr = r.output.err
	if !r.reaped || r.completed {
		return r.exit
	}
	r.completed = true
	r.exit.Duration = r.ended.Sub(r.exit.Started)
	r.exit.setStatus(r.status)
	killed := r.exit.Cause == Signalled && r.status.Signal() == syscall.SIGKILL
	// a shell reports the end of its program
	shell := r.exit.Cause == Exited && r.exit.Code == 128+int(syscall.SIGKILL)
	if (killed || shell) && r.k.oom.claim() {
		r.exit.Cause = OutOfMemory
	}
	return r.exit
}
