//go:build !linux

package folder

import "errors"

// clone is not supported on this system: files are copied.
func clone(int, int) error { return errors.ErrUnsupported }

// CanClone reports whether the file system of a folder can clone a file.
func CanClone(file, folder string) bool { return false }

func readOnly(string) bool { return false }
