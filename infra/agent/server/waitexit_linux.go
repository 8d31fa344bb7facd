package server

import "golang.org/x/sys/unix"

// waitExit returns when a child has exited, and leaves the reaping to others.
func waitExit(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err
		}
	}
}
