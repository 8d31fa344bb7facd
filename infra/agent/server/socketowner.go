package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"mlframework/infra/agent"
	"mlframework/internal/peercred"
)

// dialMaster connects to a master's socket. A group's lies where every user of the host may make
// something of that name: the folder, the socket, and the process that listens have to be the
// owner's before anything is sent.
func dialMaster(ctx context.Context, s agent.Socket) (net.Conn, error) {
	conn, err := dialOwned(ctx, s)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, errNoMaster
	}
	return conn, err
}

// errNoMaster is the error for a socket that does not exist, or on which no process listens.
var errNoMaster = errors.New("no master runs there: infrainit -f starts it")

func dialOwned(ctx context.Context, s agent.Socket) (net.Conn, error) {
	if !filepath.IsAbs(s.Path) {
		return nil, fmt.Errorf("%q is not an absolute path", s.Path)
	}
	dir := filepath.Dir(s.Path)
	if err := checkOwned(dir, fs.ModeDir, s.Owner); err != nil {
		return nil, err
	}
	if err := checkOwned(s.Path, fs.ModeSocket, s.Owner); err != nil {
		return nil, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", s.Path)
	if err != nil {
		return nil, err
	}
	uid, err := peercred.UID(conn.(*net.UnixConn))
	if err == nil && uid != s.Owner && uid != 0 {
		err = foreign(s.Path, fmt.Sprintf("is served by the user with the number %d", uid))
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// checkOwned returns an error where a file is of another type, another user's, or a folder in which
// others may put files.
func checkOwned(path string, kind fs.FileMode, owner int) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	uid := int(info.Sys().(*syscall.Stat_t).Uid)
	switch {
	case info.Mode().Type() == fs.ModeSymlink:
		return foreign(path, "is a link")
	case info.Mode().Type() != kind:
		return foreign(path, "is not what a master makes")
	case uid != owner:
		return foreign(path, fmt.Sprintf("belongs to the user with the number %d", uid))
	case kind == fs.ModeDir && info.Mode().Perm()&0o022 != 0:
		return foreign(path, "can be changed by others")
	}
	return nil
}

// foreign is the error where somebody else may have made what a master should have.
func foreign(path, why string) error {
	return fmt.Errorf("%s %s: another user of this host may have put it there to be taken for the "+
		"master. Remove it (rm -rf %[1]s; as root where it is not yours) and call infrainit -f",
		path, why)
}
