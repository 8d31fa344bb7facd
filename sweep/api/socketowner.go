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
// taken for the master. The file and the process that listens have to be this user's or root's.
// Root, who can be any user, takes a socket that its file's owner serves. It is called after
// connecting: whoever puts another file in the socket's place meanwhile is not who listens.
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
