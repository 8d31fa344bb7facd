package process

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// KillAll sends SIGKILL to every descendant of this process, repeatedly until none is left or a
// second has passed, and prevents Run from starting more. It is for leaving at once: calls of Run
// never return, so that the end of a killed program is not taken for its own. It does not wait for
// their locks.
func (k *Keeper) KillAll() {
	k.leaving.Store(true)
	k.closed.Store(true)
	k.cgroups.kill()
	killDescendants(k.pid, time.Now().Add(time.Second), func(int) bool { return true })
	k.cgroups.remove()
}

// Kill ends the running programs whose Spec.Marks are wanted, as ErrKill does.
func (k *Keeper) Kill(wanted func(marks []string) bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for r := range k.runs {
		if wanted(r.spec.Marks) {
			r.killed.Store(true)
			r.wake()
		}
	}
}

// Close ends every running program as ErrKill does, kills all other descendants except those that
// other code of this process started, and waits for them. If ctx is done first, it returns an error
// and may be called again. After it has returned nil, a new Keeper can be made.
func (k *Keeper) Close(ctx context.Context) error {
	k.mu.Lock()
	k.closed.Store(true)
	for r := range k.runs {
		r.wake()
	}
	k.mu.Unlock()
	over := make(chan struct{})
	go func() {
		defer close(over)
		k.active.Wait()
	}()
	select {
	case <-over:
	case <-ctx.Done():
		return fmt.Errorf("close the keeper of processes: programs still run: %w", ctx.Err())
	}
	if left := k.killAdopted(ctx); len(left) > 0 {
		return fmt.Errorf("close the keeper of processes: still alive: %v: %w", left, ctx.Err())
	}
	k.releaseOnce.Do(k.release)
	return nil
}

// killAdopted kills adopted processes and their descendants until none is left. When ctx is done,
// it returns the ones that are.
func (k *Keeper) killAdopted(ctx context.Context) (left []int) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		k.mu.Lock()
		k.updateAdopted(true)
		left = left[:0]
		for pid := range k.adopted {
			left = append(left, pid)
		}
		k.mu.Unlock()
		if len(left) == 0 {
			return nil
		}
		killDescendants(k.pid, time.Now(),
			func(head int) bool { return slices.Contains(left, head) })
		select {
		case <-ctx.Done():
			return left
		case <-tick.C:
		}
	}
}

func (k *Keeper) release() {
	close(k.quit)
	<-k.done
	for _, fd := range append(k.freeWakers, k.nullFD, k.childrenFD) {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	k.oom.close()
	k.cgroups.close()
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	current.CompareAndSwap(k, nil)
}

// killDescendants sends SIGKILL to the descendants of top below a child of top that is wanted,
// once, and then until none is alive or the deadline has passed. It returns how many got a signal
// in the last round.
func killDescendants(top int, until time.Time, wanted func(head int) bool) (alive int) {
	calm := 0
	for {
		alive = 0
		all := snapshot()
		for pid, head := range descendants(all, top) {
			if wanted(head) && unix.Kill(pid, unix.SIGKILL) == nil && all[pid].state != 'Z' {
				alive++
			}
		}
		if alive > 0 {
			calm = 0
		} else if calm++; calm == 2 {
			return 0
		}
		if !time.Now().Before(until) {
			return alive
		}
		time.Sleep(time.Millisecond)
	}
}
