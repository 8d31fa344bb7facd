package api

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"mlframework/internal/peercred"
)

// checkOwner returns an error for a connection to a socket that another user may have made to be
// taken for the master. The file and the listening process must belong to this user or to root.
// Root accepts a socket that the owner of its file serves. checkOwner is called after connecting, so
// that replacing the file in between does not change the process that is checked.
func checkOwner(name, socket string, conn *net.UnixConn) error {
	info, err := os.Stat(socket)
	if err != nil {
		return unreachable(name, socket, err)
	}
	uid, err := peercred.UID(conn)
	stat := info.Sys().(*syscall.Stat_t)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		uid = int(stat.Uid)
	case err != nil:
		return unreachable(name, socket, err)
	}
	why := distrust(int(stat.Uid), uid, os.Geteuid())
	if why == "" {
		return nil
	}
	return &Unreachable{Target: name, Reason: why,
		Remedy: "another user may have put it there to be taken for the master: name the socket " +
			"of one that you trust, as the user who runs it"}
}

// distrust returns why a user does not send anything to a socket of which the file belongs to one
// user, and the process that listens to another; "": it is trusted. Users are numbers.
func distrust(file, listens, me int) string {
	switch {
	case file != me && file != 0 && (me != 0 || listens != file):
		return fmt.Sprintf("it belongs to the user with the number %d", file)
	case listens != me && listens != 0 && listens != file:
		return fmt.Sprintf("it is served by the user with the number %d, and not by its owner",
			listens)
	}
	return ""
}
