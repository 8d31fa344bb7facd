package api

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"syscall"

	"mlframework/internal/peercred"
)

// checkOwner returns an error for a connection to a socket that another user may have made to be
// taken for the master. The file and the process that listens have to be this user's or root's, or
// the file is shared with a group of this user, as that of `sweepd master --group` is: others
// cannot give a file to that group. Root, who can be any user, takes a socket that its file's owner
// serves. It is called after connecting: whoever puts another file in the socket's place meanwhile
// is not who listens.
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
	groups, err := os.Getgroups()
	if err != nil {
		return unreachable(name, socket, err)
	}
	why := distrust(socketOwner{file: int(stat.Uid), group: int(stat.Gid), mode: info.Mode(),
		listens: uid}, os.Geteuid(), append(groups, os.Getegid()))
	if why == "" {
		return nil
	}
	return &Unreachable{Target: name, Reason: why,
		Remedy: "another user may have put it there to " +
			"be taken for the master: name the socket of one that you trust, as the user who " +
			"runs it, or have it started with a group that you are in (sweepd master --group)"}
}

// socketOwner is whose a socket is: its file, and the process that listens.
type socketOwner struct {
	file, group int // numbers of user and group
	mode        fs.FileMode
	listens     int // number of the user
}

// distrust returns why a user does not send anything to a socket; "": it is trusted.
func distrust(s socketOwner, me int, groups []int) string {
	shared := s.mode.Perm()&0o020 != 0 && slices.Contains(groups, s.group)
	switch {
	case s.file != me && s.file != 0 && !shared && (me != 0 || s.listens != s.file):
		return fmt.Sprintf("it belongs to the user with the number %d, and to no group of yours",
			s.file)
	case s.listens != me && s.listens != 0 && s.listens != s.file:
		return fmt.Sprintf("it is served by the user with the number %d, and not by its owner",
			s.listens)
	}
	return ""
}
