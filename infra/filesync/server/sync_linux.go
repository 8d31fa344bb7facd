package server

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncDisk brings everything on the file system of a folder to the disk: one call for thousands of
// files.
func syncDisk(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		err := unix.Syncfs(int(f.Fd()))
		if err != unix.EINTR { // a signal of Go's scheduler interrupts it on some file systems
			return os.NewSyscallError("syncfs", err)
		}
	}
}
