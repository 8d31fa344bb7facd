package process

import (
	"context"
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// usualLinger is what processes have that outlive their program, before SIGTERM: the last words of a tee.
	usualLinger = 100 * time.Millisecond
	// stuckAfter is how long after the first SIGKILL a process counts as one that cannot be ended.
	stuckAfter = 5 * time.Second
	// doubtFor bounds the wait for what may tell from which of several programs a stranger came.
	doubtFor = 100 * time.Millisecond
	// Signals are sent, and the result looked at, again after shortest, then twice as long, up to longest.
	shortest = 500 * time.Microsecond
	longest  = 20 * time.Millisecond
)

// ending is how far the end of a run has come.
type ending struct {
	preferred      int          // how often: see preferForOOM
	termAt, killAt time.Time    // zero until the end has begun
	killed         time.Time    // when SIGKILL was first sent
	termed         map[int]bool // got SIGTERM
	outlived       map[int]bool // got a signal after the program itself was gone
	pause          time.Duration
	next           time.Time // not before: walking /proc for every line of output would be too much
}

// follow carries output and time until the run is over.
func (r *run) follow(ctx context.Context) {
	dead := false
	for {
		again, over := r.step(ctx, time.Now(), dead)
		if over {
			r.exit.Left = len(r.outlived)
			return
		}
		dead = r.poll(again)
	}
}

// step does what is due and returns after how long it wants to be called again (negative: when something happens).
func (r *run) step(ctx context.Context, now time.Time, dead bool) (again time.Duration, over bool) {
	if dead && !r.reaped {
		r.reapRoot()
	}
	if !r.reaped {
		r.heedTimeout(now)
	}
	r.heedContext(ctx, now)
	if r.reaped {
		heads, doubt := r.left()
		if len(heads) == 0 && !doubt {
			return 0, true
		}
		if len(heads) == 0 {
			return r.backOff(), false
		}
		r.endBy(now.Add(r.k.linger), r.spec.Grace)
	}
	switch {
	case r.termAt.IsZero():
		return r.undisturbed(now), false
	case !r.killed.IsZero() && now.Sub(r.killed) >= stuckAfter:
		r.giveUp()
		return 0, true
	case now.Before(r.termAt):
		return min(r.backOff(), r.termAt.Sub(now)), false
	case !r.reaped && r.termed != nil && now.Before(r.killAt):
		return r.killAt.Sub(now), false // it had its SIGTERM; what it starts to clean up does not get one
	}
	return r.signal(now), false
}

// signal sends what is due and returns after how long it is due again.
func (r *run) signal(now time.Time) time.Duration {
	if now.Before(r.next) {
		return r.next.Sub(now)
	}
	wait := r.backOff()
	if now.Before(r.killAt) {
		r.terminate()
		wait = min(wait, r.killAt.Sub(now))
	} else {
		if r.killed.IsZero() {
			r.killed = now
		}
		r.kill()
	}
	r.next = now.Add(wait)
	return wait
}

// endBy begins the end, if it has not begun, or brings it forward.
func (r *run) endBy(termAt time.Time, grace time.Duration) {
	if r.termAt.IsZero() || termAt.Before(r.termAt) {
		r.termAt, r.pause, r.next = termAt, 0, time.Time{}
	}
	if killAt := termAt.Add(grace); r.killAt.IsZero() || killAt.Before(r.killAt) {
		r.killAt, r.next = killAt, time.Time{}
	}
}

func (r *run) heedTimeout(now time.Time) {
	if r.termAt.IsZero() && r.spec.Timeout > 0 && now.Sub(r.exit.Started) >= r.spec.Timeout {
		r.exit.Cause = TimedOut
		r.endBy(now, r.spec.Grace)
	}
}

// undisturbed does what is due while the program runs, and returns after how long something else is.
func (r *run) undisturbed(now time.Time) (again time.Duration) {
	again = -1
	age := now.Sub(r.exit.Started)
	if r.spec.Timeout > 0 {
		again = max(0, r.spec.Timeout-age)
	}
	if r.preferred == len(preferAfter) {
		return again
	}
	left := preferAfter[r.preferred] - age
	if left <= 0 {
		r.preferred++
		preferForOOM(r.pid)
		left = 0 // look for the next time at once
	}
	if again < 0 || left < again {
		again = left
	}
	return again
}

func (r *run) heedContext(ctx context.Context, now time.Time) {
	cause, grace := context.Cause(ctx), r.spec.Grace
	if errors.Is(cause, ErrKill) {
		grace = 0
	}
	if r.k.closed.Load() {
		cause, grace = ErrClosed, 0
	}
	if cause == nil {
		return
	}
	if !r.reaped && r.exit.Cause != TimedOut {
		r.exit.Cause, r.exit.Err = Stopped, cause
	}
	r.endBy(now, grace)
}

func (r *run) backOff() time.Duration {
	r.pause = min(max(2*r.pause, shortest), longest)
	return r.pause
}

// poll carries output until the program is dead, something was carried, the run is woken or the time is over. It tells
// whether the program is dead.
func (r *run) poll(timeout time.Duration) (dead bool) {
	var set [4]unix.PollFd
	r.output.watch(set[:2])
	set[2] = unix.PollFd{Fd: int32(r.pidfd), Events: unix.POLLIN}
	if r.reaped {
		set[2].Fd = -1
	}
	set[3] = unix.PollFd{Fd: int32(r.waker), Events: unix.POLLIN}
	var wait *unix.Timespec // for ever
	if timeout >= 0 {
		ts := unix.NsecToTimespec(int64(timeout))
		wait = &ts
	}
	if _, err := unix.Ppoll(set[:], wait, nil); err != nil {
		return false // EINTR; ENOMEM, which passes
	}
	r.output.carry(set[:2])
	if set[3].Revents != 0 {
		var count [8]byte
		_, _ = unix.Read(r.waker, count[:])
	}
	if r.pidfd >= 0 {
		return set[2].Revents != 0
	}
	return r.dead.Load()
}

// reapRoot takes the exit status of the program itself.
func (r *run) reapRoot() {
	r.k.mu.Lock()
	defer r.k.mu.Unlock()
	var status unix.WaitStatus
	for {
		pid, err := unix.Wait4(r.pid, &status, unix.WNOHANG, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil { // ECHILD: something else here waits for any child
			r.exit.Err = errors.Join(r.exit.Err, errors.New("the exit code is lost: other code of this process took it"))
			status = unix.WaitStatus(0x7f) // neither exited nor signalled
		} else if pid != r.pid {
			return
		}
		break
	}
	r.status, r.reaped, r.ended = syscall.WaitStatus(status), true, time.Now()
	if r.k.roots[r.pid] == r {
		delete(r.k.roots, r.pid)
	}
}

// left lists what is to end with r, once the program itself is gone. With neither heads nor doubt, r is forgotten.
func (r *run) left() (heads []int, doubt bool) {
	if unix.Kill(-r.pid, 0) != unix.ESRCH {
		// Somebody is in the group: by an owner that look finds, or because the number is used again.
		if heads = r.members(); len(heads) > 0 {
			return heads, false
		}
		return r.k.left(r, true)
	}
	return r.k.left(r, false)
}
