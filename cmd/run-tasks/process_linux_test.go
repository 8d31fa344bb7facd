package main_test

import (
	"strings"
	"syscall"

	"mlframework/internal/processtest"
)

// killMarked kills the processes that have a variable in their environment.
func killMarked(variable string) {
	name, value, _ := strings.Cut(variable, "=")
	for _, p := range processtest.Running() {
		if p.Environ[name] == value {
			_ = syscall.Kill(p.PID, syscall.SIGKILL)
		}
	}
}
