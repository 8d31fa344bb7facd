//go:build !linux

package process

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// current is the Keeper of this process.
var current atomic.Pointer[Keeper]

// Keeper runs programs in process groups of their own. Without a subreaper, a process that leaves
// its group is not found. The memory preference has no effect. All methods may be
// called concurrently.
type Keeper struct {
	active  sync.WaitGroup
	closing chan struct{}

	mu      sync.Mutex // guards what follows
	closed  bool
	leaving atomic.Bool      // by KillAll
	groups  map[int][]string // Spec.Marks by the pid of the program
}

// NewKeeper fails if another Keeper exists. The log is not used on this system.
func NewKeeper(*slog.Logger) (*Keeper, error) {
	k := &Keeper{groups: map[int][]string{}, closing: make(chan struct{})}
	if !current.CompareAndSwap(nil, k) {
		return nil, errors.New("keep processes: this process has a keeper already")
	}
	return k, nil
}

// KillAll sends SIGKILL to the process group of every running program, and prevents Run from
// starting more. It is for leaving at once: calls of Run never return.
func (k *Keeper) KillAll() {
	k.leaving.Store(true)
	k.killGroups()
}

func (k *Keeper) killGroups() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closed {
		k.closed = true
		close(k.closing)
	}
	for pid := range k.groups {
		_ = syscall.Kill(-pid, syscall.SIGKILL) // it may be gone
	}
}

// Kill sends SIGKILL to the process group of each running program whose Spec.Marks are wanted.
func (k *Keeper) Kill(wanted func(marks []string) bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for pid, marks := range k.groups {
		if wanted(marks) {
			_ = syscall.Kill(-pid, syscall.SIGKILL) // it may be gone
		}
	}
}

// Close ends every running program and waits for it. If ctx is done first, it returns the error of
// ctx.
func (k *Keeper) Close(ctx context.Context) error {
	k.killGroups()
	over := make(chan struct{})
	go func() {
		defer close(over)
		k.active.Wait()
	}()
	select {
	case <-over:
		current.CompareAndSwap(k, nil)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run runs the program of spec, which is in file: see Run.
func (k *Keeper) run(ctx context.Context, spec *Spec, file string) Exit {
	cmd := &exec.Cmd{
		Path: file, Args: spec.Argv, Env: spec.Env, Dir: spec.Dir,
		WaitDelay:   500 * time.Millisecond,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	out, errs := &guardedWriter{w: spec.Stdout}, &guardedWriter{w: spec.Stderr}
	if spec.Stdout != nil {
		cmd.Stdout = out
	}
	if spec.Stderr != nil {
		cmd.Stderr = errs
	}
	if err := k.start(cmd, spec.Marks); err != nil {
		return startFailure(spec, file, err)
	}
	defer k.leave(cmd.Process.Pid)
	if spec.Started != nil {
		spec.Started(cmd.Process.Pid)
	}
	e := Exit{Code: -1, Started: time.Now()}
	k.follow(ctx, cmd, spec, &e)
	e.OutputErr = errors.Join(out.err, errs.err)
	return e
}

func (k *Keeper) start(cmd *exec.Cmd, marks []string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return ErrClosed
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	k.groups[cmd.Process.Pid] = marks
	k.active.Add(1)
	return nil
}

func (k *Keeper) leave(pid int) {
	_ = syscall.Kill(-pid, syscall.SIGKILL) // what is left of the group
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.groups, pid)
	k.active.Done()
}

func (k *Keeper) follow(ctx context.Context, cmd *exec.Cmd, spec *Spec, e *Exit) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // the state has it
	}()
	var timeout, kill <-chan time.Time
	if spec.Timeout > 0 {
		timeout = time.After(spec.Timeout)
	}
	done, closed := ctx.Done(), (<-chan struct{})(k.closing)
	stop := func(cause Cause, err error, grace time.Duration) {
		e.Cause, e.Err, done, closed, timeout = cause, err, nil, nil, nil
		if grace > 0 {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		}
		kill = time.After(grace)
	}
	for {
		select {
		case <-timeout:
			stop(TimedOut, nil, spec.Grace)
		case <-closed:
			stop(Stopped, ErrClosed, 0)
		case <-done:
			if cause := context.Cause(ctx); errors.Is(cause, ErrKill) {
				stop(Stopped, cause, 0)
			} else {
				stop(Stopped, cause, spec.Grace)
			}
		case <-kill:
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		case <-ended:
			e.Duration = time.Since(e.Started)
			if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok {
				e.setStatus(status)
			}
			return
		}
	}
}

// guardedWriter keeps the first error and continues to accept output.
type guardedWriter struct {
	w   io.Writer
	err error
}

func (g *guardedWriter) Write(b []byte) (int, error) {
	if g.err == nil {
		_, g.err = g.w.Write(b)
	}
	return len(b), nil
}

// KillLeftovers finds nothing: the environments of other processes cannot be read on this system.
func KillLeftovers(context.Context, func(environ []string) bool) (killed int, err error) {
	return 0, nil
}

// Identity is not available on this system.
func Identity() string { return "" }

// IdentityOf is not available on this system.
func IdentityOf(int) string { return "" }

// Alive is not available on this system.
func Alive(string) bool { return false }

func becomeSubreaper() error { return nil }

func ownProgram() (string, error) { return os.Executable() }

func nameProcess(string) {}

// onGuardDeath kills the process groups of the executor's programs after the guard has died.
func onGuardDeath() {
	if k := current.Load(); k != nil {
		k.KillAll()
	}
}

// killExecutorLeftovers does nothing: without a subreaper the guard does not inherit the executor's
// processes.
func killExecutorLeftovers() {}

var errNotLinux = errors.New("programs are confined on Linux only")

// CanConfine returns why programs cannot be confined on this system.
func CanConfine() error { return errNotLinux }

// Confine does nothing on this system.
func (k *Keeper) Confine(Confinement) error { return nil }

// Privileged returns false, because programs are not confined on this system.
func Privileged() bool { return false }

// ProtectMemory prevents this process and its descendants from writing core files.
func ProtectMemory() error { return syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) }
