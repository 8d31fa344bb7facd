package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// KeepPrivate keeps the memory of this process, in which values of secrets are, to itself: other
// processes of the same user can neither trace it nor read its memory, environment and descriptors
// (prctl(2), PR_SET_DUMPABLE), and neither it nor any process that comes from it writes a core
// file, which nothing without privileges can undo. Programs that it starts can be looked into as
// any.
//
// The files of an undumpable process in /proc belong to root. What this package reads there of
// itself is open to everybody, or to the process's own threads; the name that Guarded gives it is
// written before.
func KeepPrivate() error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("limit the size of core files to 0: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("keep other processes from reading this one's memory: %w", err)
	}
	return nil
}
