package local

import (
	"net"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/worker"
)

// Alive reports whether a runner of this folder can be asked.
func Alive() bool {
	conn, err := net.Dial("unix", socketPath())
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// Holder returns what the runner of this folder says of itself; "" where there is none, or that
// cannot be told.
func Holder() string { return worker.Holder(worker.FolderLock(OutputFolder())) }

// Gone waits for the end of a runner, by what Holder returned, that has cut the connection; a
// process that dies is reachable for a moment. It reports whether it is gone.
func Gone(holder string) bool {
	for end := time.Now().Add(10 * time.Second); Alive() && Holder() == holder; {
		if time.Now().After(end) {
			return false
		}
		time.Sleep(20 * time.Millisecond)
	}
	return true
}

// Dial returns a client of the runner of this folder, whichever process that is when it is asked.
func Dial() *api.Client { return api.DialAs("the runner of this folder", socketPath()) }
