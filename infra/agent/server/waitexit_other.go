//go:build !linux

package server

import "errors"

// waitExit is not supported: hosts are Linux machines.
func waitExit(int) error { return errors.ErrUnsupported }
