package server

import (
	"errors"
	"os"
	"syscall"
)

// syncFolder brings the names in a folder to the disk. Some network file systems have no such call: they do so by themselves.
func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
