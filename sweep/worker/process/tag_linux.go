package process

import (
	"crypto/rand"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// The tag of a program is the soft limit of file locks (RLIMIT_LOCKS), which no kernel since Linux
// 2.4.25 enforces (getrlimit(2)): a number that every process of the program inherits, whatever
// becomes of its parent, session and environment. A confined program cannot set it (see
// limitsFilter); another can, and has to know that of a running program to pass for one of it.
const tagLimit = unix.RLIMIT_LOCKS

// A tag has tagMark, which no limit has by chance, a number of its Keeper, and tagRandomBits that
// are drawn for each program.
const (
	tagMark       = 1 << 62
	tagKeeperBits = 14
	tagRandomBits = 48
)

// newTagBase returns what all tags of a Keeper begin with. Keepers may be nested: that of an inner
// one, or of one of before, is another but for one in 16,384.
func newTagBase() uint64 {
	return tagMark | randomBits(tagKeeperBits)<<tagRandomBits
}

// newTag returns a tag that no program has. Call it with k.mu held.
func (k *Keeper) newTag() uint64 {
	for {
		tag := k.tagBase | randomBits(tagRandomBits)
		if !k.isTagInUse(tag) {
			return tag
		}
	}
}

func (k *Keeper) isTagInUse(tag uint64) bool {
	for r := range k.runs {
		if r.tag == tag {
			return true
		}
	}
	return false
}

// isOwnTag reports whether a program of this Keeper has, or had, a tag.
func (k *Keeper) isOwnTag(tag uint64) bool {
	return tag&^(1<<tagRandomBits-1) == k.tagBase
}

func randomBits(n int) uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return binary.NativeEndian.Uint64(b[:]) >> (64 - n)
}

// setTag sets the tag of a program. Processes that it has forked before, which is rare, have none.
func (r *run) setTag() {
	limit := unix.Rlimit{Cur: r.tag, Max: unix.RLIM_INFINITY}
	if unix.Prlimit(r.pid, tagLimit, &limit, nil) != nil {
		r.k.mu.Lock()
		r.tag = 0 // the hard limit may be lower here
		r.k.mu.Unlock()
	}
}

// tagOf returns the tag of a process, or whatever the limit is there; 0 if it cannot be read.
func tagOf(pid int) uint64 {
	var limit unix.Rlimit
	if unix.Prlimit(pid, tagLimit, nil, &limit) != nil {
		return 0
	}
	return limit.Cur
}
