package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// ProtectMemory protects the memory of this process, which has secrets. Other processes of the same
// user can neither trace it nor read its memory, environment and descriptors (prctl(2),
// PR_SET_DUMPABLE), and neither it nor its descendants write core files, which cannot be undone
// without privileges. Programs that it starts are not protected.
//
// The files of an undumpable process in /proc belong to root. What this package reads there about
// itself is world-readable or readable by the process's own threads; the name that Guarded sets is
// written before.
func ProtectMemory() error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("limit the size of core files to 0: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("keep other processes from reading this one's memory: %w", err)
	}
	return nil
}
