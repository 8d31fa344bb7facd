package local

import (
	"net"

	"mlframework/sweep/api"
	"mlframework/sweep/worker"
)

// Alive reports whether a runner of this folder can be asked.
func Alive() bool {
	conn, err := net.Dial("unix", socketPath)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// Holder returns what the runner of this folder says of itself; "" where there is none, or that
// cannot be told.
func Holder() string { return worker.Holder(worker.FolderLock(OutputFolder)) }

// Dial returns a client of the runner of this folder, whichever process that is when it is asked.
func Dial() *api.Client { return api.DialAs("the runner of this folder", socketPath) }
