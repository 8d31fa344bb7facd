package process

import (
	"context"
	"errors"
	"slices"
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
	// lastWords is what processes have that outlive their program, after SIGTERM, before its end is told without their output.
	lastWords = 100 * time.Millisecond
	// Signals are sent, and the result looked at, again after shortest, then twice as long, up to longest; or up to rarely
	// where the end of a process wakes the run: then that is for what it may have started meanwhile.
	shortest = 500 * time.Microsecond
	longest  = 20 * time.Millisecond
	rarely   = time.Second
	// mostHeads is how many of the processes that a program left are waited for.
	mostHeads = 64
)

// ending is how far the end of a run has come.
type ending struct {
	preferred      int          // how often: see preferForOOM
	termAt, killAt time.Time    // zero until the end has begun
	killed         time.Time    // when SIGKILL was first sent
	termed         map[int]bool // got SIGTERM
	outlived       map[int]bool // got a signal after the program itself was gone
	pause          time.Duration
	next           time.Time   // not before: walking /proc for every line of output would be too much
	stirred        bool        // a process that was waited for has ended
	heads          map[int]int // pidfds, by pid, of what the program left; -1: it was seen to end
	told           bool        // Spec.Ended was called
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
		r.stirred, r.next = r.reaped, time.Time{}
	}
	if !r.reaped {
		r.heedTimeout(now)
	}
	r.heedContext(ctx, now)
	if r.reaped {
		if over = r.look(now); over {
			return 0, true
		}
	}
	switch {
	case r.termAt.IsZero() && r.reaped: // nothing but time can tell whether anything is left
		again = r.pauseUntil(now)
	case r.termAt.IsZero():
		return r.undisturbed(now), false
	case !r.killed.IsZero() && now.Sub(r.killed) >= stuckAfter:
		r.giveUp()
		return 0, true
	case now.Before(r.termAt):
		again = min(r.pauseUntil(now), r.termAt.Sub(now))
	case !r.reaped && r.termed != nil && now.Before(r.killAt):
		return r.killAt.Sub(now), false // it had its SIGTERM; what it starts to clean up does not get one
	default:
		again = r.signal(now)
	}
	if r.reaped && !r.told {
		again = max(0, min(again, r.tellAt().Sub(now)))
	}
	return again, false
}

// look finds out what is left of a program that has ended, when that is due, and tells whether that is nothing.
func (r *run) look(now time.Time) (over bool) {
	if !r.stirred && now.Before(r.next) {
		r.tell(now)
		return false
	}
	heads, doubt := r.left()
	if len(heads) == 0 && !doubt {
		return true
	}
	if r.stirred { // what it had started is our child now, and has had no signal
		r.stirred, r.pause, r.next = false, 0, earlier(r.next, now.Add(longest))
	}
	r.await(heads)
	if len(heads) > 0 {
		r.endBy(now.Add(r.k.linger), r.spec.Grace)
	}
	r.tell(now)
	return false
}

// tell reports the end of the program when what it left takes longer to end.
func (r *run) tell(now time.Time) {
	if r.told || now.Before(r.tellAt()) {
		return
	}
	r.told = true
	r.k.standStill() // after KillAll the end is nobody's own
	if exit := r.result(); r.spec.Ended != nil {
		r.spec.Ended(exit)
	}
}

func (r *run) tellAt() time.Time { return r.ended.Add(r.k.linger + lastWords) }

// await makes the end of processes interrupt poll.
func (r *run) await(pids []int) {
	for pid, fd := range r.heads {
		if !slices.Contains(pids, pid) {
			closeFD(fd)
			delete(r.heads, pid)
		}
	}
	if !r.k.pidfds {
		return
	}
	if r.heads == nil {
		r.heads = map[int]int{}
	}
	for _, pid := range pids {
		if _, have := r.heads[pid]; have || len(r.heads) >= mostHeads {
			continue
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			fd = -1 // it has ended, or there are no descriptors: the next look tells
		}
		r.heads[pid] = fd
	}
}

func closeFD(fd int) {
	if fd >= 0 {
		unix.Close(fd)
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// signal sends what is due and returns after how long it is due again.
func (r *run) signal(now time.Time) time.Duration {
	if now.Before(r.next) {
		return r.next.Sub(now)
	}
	wait := r.backOff(now)
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

// backOff is after how long the next look is due.
func (r *run) backOff(now time.Time) time.Duration {
	limit := longest
	if len(r.heads) > 0 && now.Before(r.killAt) {
		limit = rarely
	}
	r.pause = min(max(2*r.pause, shortest), limit)
	return r.pause
}

// pauseUntil is how long it is until the next look, while there is nothing to be sent.
func (r *run) pauseUntil(now time.Time) time.Duration {
	if !now.Before(r.next) {
		r.next = now.Add(r.backOff(now))
	}
	return r.next.Sub(now)
}

// poll carries output until the program is dead, something was carried, the run is woken or the time is over. It tells
// whether the program is dead.
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
	r.output.carry(set[:2])
	if set[3].Revents != 0 {
		var count [8]byte
		_, _ = unix.Read(r.waker, count[:])
	}
	for _, p := range set[4:] {
		if p.Revents != 0 {
			r.headEnded(int(p.Fd))
		}
	}
	if r.pidfd >= 0 {
		return set[2].Revents != 0
	}
	return r.dead.Load()
}

// headEnded notes that a process has ended which was waited for. It is not waited for again, should it stay a zombie.
func (r *run) headEnded(fd int) {
	for pid, have := range r.heads {
		if have == fd {
			closeFD(fd)
			r.heads[pid] = -1
		}
	}
	r.stirred = true
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
	r.output.closeWriters()
	if r.k.roots[r.pid] == r {
		delete(r.k.roots, r.pid)
	}
}

// left lists what is to end with r, once the program itself is gone. With neither heads nor doubt, r is forgotten.
func (r *run) left() (heads []int, doubt bool) {
	group := unix.Kill(-r.pid, 0) != unix.ESRCH
	if group {
		// Somebody is in the group: by an owner that look finds, or because the number is used again.
		if heads = r.k.heads(r); len(heads) == 0 {
			heads = r.members()
		}
		if len(heads) > 0 {
			return heads, false
		}
	}
	return r.k.left(r, group)
}
