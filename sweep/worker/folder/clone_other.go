//go:build !linux

package folder

import (
	"errors"
	"os"
)

// clone is for Linux: elsewhere files are copied.
func clone(*os.File, *os.File) error { return errors.ErrUnsupported }

// Clones reports whether the file system of a folder clones a file.
func Clones(file, folder string) bool { return false }

func readOnly(string) bool { return false }
