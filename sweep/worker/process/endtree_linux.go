package process

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// defaultLinger is the time that processes have that outlive their program before they get
	// SIGTERM, for example a tee that writes its last output.
	defaultLinger = 100 * time.Millisecond
	// unkillableAfter is the time after the first SIGKILL at which a process counts as unkillable.
	unkillableAfter = 5 * time.Second
	// termLinger is the time that processes have that outlive their program after SIGTERM, before
	// its end is reported without their output.
	termLinger = 100 * time.Millisecond
	// Signals are sent again, and the result is checked, after minPause, then at doubled intervals
	// up to maxPause, or up to maxWatchedPause if the end of a process wakes the run: that is for
	// what the process may have started meanwhile.
	minPause        = 500 * time.Microsecond
	maxPause        = 20 * time.Millisecond
	maxWatchedPause = time.Second
	// maxHeads limits the processes left by a program whose end is watched.
	maxHeads = 64
)

// ending is the progress of ending a run.
type ending struct {
	// calls of raiseOOMScore
	oomCalls int
	// zero until the end has begun
	termAt, killAt time.Time
	firstKill      time.Time    // when SIGKILL was first sent
	gotTerm        map[int]bool // got SIGTERM
	outlived       map[int]bool // got a signal after the program itself was gone
	pause          time.Duration
	// not before: walking /proc for every line of output would cost too much
	nextCheck time.Time
	// a watched process has ended
	headEnded bool
	// pidfds of what the program left, by pid; -1: it has ended
	heads map[int]int
	// Spec.Ended was called
	reported bool
}

// checkRemaining checks, when due, what is left of a program that has ended, and reports whether
// nothing is.
func (r *run) checkRemaining(now time.Time) (over bool) {
	if !r.headEnded && now.Before(r.nextCheck) {
		r.reportEnd(now)
		return false
	}
	heads := r.remaining()
	if len(heads) == 0 {
		return true
	}
	if r.headEnded { // what it had started is our child now, and has had no signal
		r.headEnded, r.pause, r.nextCheck = false, 0, earliest(r.nextCheck, now.Add(maxPause))
	}
	r.watchHeads(heads)
	r.scheduleEnd(now.Add(r.k.linger), r.spec.Grace)
	r.reportEnd(now)
	return false
}

// reportEnd reports the end of the program if what it left behind takes longer to end.
func (r *run) reportEnd(now time.Time) {
	if r.reported || now.Before(r.reportDue()) {
		return
	}
	r.reported = true
	r.k.blockIfLeaving() // after KillAll the end is not the program's own
	if exit := r.result(); r.spec.Ended != nil {
		r.spec.Ended(exit)
	}
}

func (r *run) reportDue() time.Time { return r.ended.Add(r.k.linger + termLinger) }

// watchHeads makes the end of processes interrupt poll.
func (r *run) watchHeads(pids []int) {
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
		if _, have := r.heads[pid]; have || len(r.heads) >= maxHeads {
			continue
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			fd = -1 // it has ended, or there are no descriptors: the next check shows
		}
		r.heads[pid] = fd
	}
}

func closeFD(fd int) {
	if fd >= 0 {
		unix.Close(fd)
	}
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// sendDue sends the signals that are due and returns the delay until the next ones.
func (r *run) sendDue(now time.Time) time.Duration {
	if now.Before(r.nextCheck) {
		return r.nextCheck.Sub(now)
	}
	wait := r.backoff(now)
	if now.Before(r.killAt) {
		r.terminate()
		wait = min(wait, r.killAt.Sub(now))
	} else {
		if r.firstKill.IsZero() {
			r.firstKill = now
		}
		r.kill()
	}
	r.nextCheck = now.Add(wait)
	return wait
}

// scheduleEnd starts the end of the run, or brings it forward.
func (r *run) scheduleEnd(termAt time.Time, grace time.Duration) {
	if r.termAt.IsZero() || termAt.Before(r.termAt) {
		r.termAt, r.pause, r.nextCheck = termAt, 0, time.Time{}
	}
	if killAt := termAt.Add(grace); r.killAt.IsZero() || killAt.Before(r.killAt) {
		r.killAt, r.nextCheck = killAt, time.Time{}
	}
}

// backoff returns the delay until the next check.
func (r *run) backoff(now time.Time) time.Duration {
	limit := maxPause
	if len(r.heads) > 0 && now.Before(r.killAt) {
		limit = maxWatchedPause
	}
	r.pause = min(max(2*r.pause, minPause), limit)
	return r.pause
}

// pauseUntil returns the delay until the next check while there is no signal to send.
func (r *run) pauseUntil(now time.Time) time.Duration {
	if !now.Before(r.nextCheck) {
		r.nextCheck = now.Add(r.backoff(now))
	}
	return r.nextCheck.Sub(now)
}

// markHeadEnded records the end of a watched process. It is not watched again, even if it stays a
// zombie.
func (r *run) markHeadEnded(fd int) {
	for pid, have := range r.heads {
		if have == fd {
			closeFD(fd)
			r.heads[pid] = -1
		}
	}
	r.headEnded = true
}

// remaining returns what is to end with r after the program itself is gone. If nothing is, r is
// forgotten.
func (r *run) remaining() (heads []int) {
	group := unix.Kill(-r.pid, 0) != unix.ESRCH
	if group {
		// Somebody is in the group: a process of the program, or the number is used again.
		if heads = r.k.heads(r); len(heads) == 0 {
			heads = r.members()
		}
		if len(heads) > 0 {
			return heads
		}
	}
	return r.k.remaining(r, group)
}
