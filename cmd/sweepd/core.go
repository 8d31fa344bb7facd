package main

import (
	"fmt"
	"syscall"
)

// noCore keeps this process, and every one that comes from it, from writing its memory to a file when it crashes: values of
// secrets are in it. Nothing that it starts can undo that without privileges.
func noCore() error {
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err != nil {
		return fmt.Errorf("limit the size of core files to 0: %w", err)
	}
	return nil
}
