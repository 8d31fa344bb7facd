//go:build !linux

package server

import "errors"

// waitExit waits for nobody: hosts are Linux machines.
func waitExit(int) error { return errors.ErrUnsupported }
