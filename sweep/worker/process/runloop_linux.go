package process

import (
	"context"
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// loop copies output and enforces deadlines until the run is over.
func (r *run) loop(ctx context.Context) {
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

// step does what is due and returns the delay until the next call (negative: when something
// happens).
func (r *run) step(ctx context.Context, now time.Time, dead bool) (again time.Duration, over bool) {
	if dead && !r.reaped {
		r.reapRoot()
		r.headEnded, r.nextCheck = r.reaped, time.Time{}
	}
	if !r.reaped {
		r.checkTimeout(now)
	}
	r.checkContext(ctx, now)
	if r.reaped {
		if over = r.checkRemaining(now); over {
			return 0, true
		}
	}
	switch {
	case r.termAt.IsZero():
		return r.untilNextDue(now), false
	case !r.firstKill.IsZero() && now.Sub(r.firstKill) >= unkillableAfter:
		r.recordUnkillable()
		return 0, true
	case now.Before(r.termAt):
		again = min(r.pauseUntil(now), r.termAt.Sub(now))
	case !r.reaped && r.gotTerm != nil && now.Before(r.killAt):
		// it had its SIGTERM; what it starts to clean up does not get one
		return r.killAt.Sub(now), false
	default:
		again = r.sendDue(now)
	}
	if r.reaped && !r.reported {
		again = max(0, min(again, r.reportDue().Sub(now)))
	}
	return again, false
}

func (r *run) checkTimeout(now time.Time) {
	if r.termAt.IsZero() && r.spec.Timeout > 0 && now.Sub(r.exit.Started) >= r.spec.Timeout {
		r.exit.Cause = TimedOut
		r.scheduleEnd(now, r.spec.Grace)
	}
}

// untilNextDue does what is due while the program runs, and returns the delay until the next
// action.
func (r *run) untilNextDue(now time.Time) (again time.Duration) {
	again = -1
	age := now.Sub(r.exit.Started)
	if r.spec.Timeout > 0 {
		again = max(0, r.spec.Timeout-age)
	}
	if r.oomCalls == len(oomScoreDelays) {
		return again
	}
	left := oomScoreDelays[r.oomCalls] - age
	if left <= 0 {
		r.oomCalls++
		raiseOOMScore(r.pid)
		left = 0 // look for the next time at once
	}
	if again < 0 || left < again {
		again = left
	}
	return again
}

func (r *run) checkContext(ctx context.Context, now time.Time) {
	cause, grace := context.Cause(ctx), r.spec.Grace
	if r.killed.Load() {
		cause = ErrKill
	}
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
	r.scheduleEnd(now, grace)
}

// poll copies output until the program is dead, output was copied, the run is woken or the timeout
// has passed. It reports whether the program is dead.
func (r *run) poll(timeout time.Duration) (dead bool) {
	var few [8]unix.PollFd
	set := few[:4]
	r.output.watch(set[:2])
	set[2] = unix.PollFd{Fd: int32(r.pidfd), Events: unix.POLLIN}
	if r.reaped {
		set[2].Fd = -1
	}
	set[3] = unix.PollFd{Fd: int32(r.waker), Events: unix.POLLIN}
	for _, fd := range r.heads {
		set = append(set, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	var wait *unix.Timespec // for ever
	if timeout >= 0 {
		ts := unix.NsecToTimespec(int64(timeout))
		wait = &ts
	}
	if _, err := unix.Ppoll(set, wait, nil); err != nil {
		return false // EINTR; ENOMEM, which passes
	}
	r.output.copyReady(set[:2])
	if set[3].Revents != 0 {
		var count [8]byte
		_, _ = unix.Read(r.waker, count[:])
	}
	for _, p := range set[4:] {
		if p.Revents != 0 {
			r.markHeadEnded(int(p.Fd))
		}
	}
	if r.pidfd >= 0 {
		return set[2].Revents != 0
	}
	return r.dead.Load()
}

// reapRoot collects the exit status of the program itself.
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
			r.exit.Err = errors.Join(r.exit.Err,
				errors.New("the exit code is lost: other code of this process took it"))
			status = unix.WaitStatus(0x7f) // neither exited nor signalled
		} else if pid != r.pid {
			return
		}
		break
	}
	r.status, r.reaped, r.ended = syscall.WaitStatus(status), true, time.Now()
	r.output.closeWriters()
	if r.k.roots[r.pid] == r {
		delete(r.k.roots, r.pid)
	}
}
