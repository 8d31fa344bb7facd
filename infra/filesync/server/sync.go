package server

import (
	"errors"
	"os"
	"syscall"
)

// syncFolder brings the names in a folder to the disk. Some network file systems have no such call:
// they do so by themselves.
func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
