package server_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/infra/agent"
	"mlframework/infra/agent/server"
)

// A socket that somebody else may have made is sent nothing.
func TestWhoseMasterItIs(t *testing.T) {
	t.Parallel()
	me, other := os.Getuid(), 1234
	asRoot := func(t *testing.T) {
		if me != 0 {
			t.Skip("NOT TESTED: only root can give files away")
		}
	}
	for name, c := range map[string]struct {
		owner int
		make  func(t *testing.T, dir, socket string) (asked string)
		want  string // "": it is the master's
	}{
		"the owner's": {me, nil, ""},
		"given to who runs the master": {other,
			func(t *testing.T, dir, socket string) string {
				asRoot(t)
				must(t, errors.Join(os.Chown(dir, other, -1), os.Chown(socket, other, -1),
					os.Chmod(dir, 0o750)))
				return socket
			}, ""},
		"a folder of another user": {me, func(t *testing.T, dir, socket string) string {
			asRoot(t)
			must(t, os.Chown(dir, other, -1))
			return socket
		}, "belongs to the user with the number 1234"},
		"a socket of another user": {me, func(t *testing.T, _, socket string) string {
			asRoot(t)
			must(t, os.Chown(socket, other, -1))
			return socket
		}, "belongs to the user with the number 1234"},
		"a folder that others may change": {me, func(t *testing.T, dir, socket string) string {
			must(t, os.Chmod(dir, 0o770))
			return socket
		}, "can be changed by others"},
		"a folder that is a link": {me, func(t *testing.T, dir, socket string) string {
			link := filepath.Join(t.TempDir(), "link")
			must(t, os.Symlink(dir, link))
			return filepath.Join(link, filepath.Base(socket))
		}, "is a link"},
		"a socket that is a link": {me, func(t *testing.T, dir, socket string) string {
			link := filepath.Join(dir, "link")
			must(t, os.Symlink(socket, link))
			return link
		}, "is a link"},
		"no socket": {me, func(t *testing.T, dir, _ string) string {
			file := filepath.Join(dir, "file")
			must(t, os.WriteFile(file, nil, 0o600))
			return file
		}, "is not what a master makes"},
		"no such file": {me, func(_ *testing.T, dir, _ string) string {
			return filepath.Join(dir, "gone")
		}, "no master runs there: infrainit -f starts it"},
		"nobody listens": {me, func(t *testing.T, dir, _ string) string {
			name := &net.UnixAddr{Name: filepath.Join(dir, "ended"), Net: "unix"}
			ended, err := net.ListenUnix("unix", name)
			must(t, err)
			ended.SetUnlinkOnClose(false)
			must(t, ended.Close())
			return filepath.Join(dir, "ended")
		}, "no master runs there: infrainit -f starts it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := make(chan struct{}, 1)
			socket := far(t, "unix", func(conn net.Conn) {
				if n, _ := conn.Read(make([]byte, 1)); n > 0 {
					said <- struct{}{}
				}
			}).String()
			dir := filepath.Dir(socket)
			must(t, os.Chmod(dir, 0o700))
			asked := socket
			if c.make != nil {
				asked = c.make(t, dir, socket)
			}
			conn, err := start(t, server.Options{}).Master(t.Context(),
				agent.Socket{Path: asked, Owner: c.owner})
			if err == nil {
				_, _ = conn.Write([]byte("secret"))
				<-said
				conn.Close()
			}
			e, refused := errors.AsType[*agent.Error](err)
			if c.want == "" && err != nil ||
				c.want != "" && (!refused || !strings.Contains(e.Text, c.want)) {
				t.Errorf("opened by the agent: %v, %v", err == nil, err)
			}
		})
	}
}

// The folder is the owner's, and so is the name of the socket, but another user's process listens.
func TestWhoListensForTheMaster(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: only root can give files away")
	}
	const owner = 1234
	file, dir := listener(t, 4321)
	must(t, errors.Join(os.Chown(dir, owner, -1), os.Chown(file, owner, -1)))
	_, err := start(t, server.Options{}).Master(t.Context(), agent.Socket{Path: file, Owner: owner})
	if err == nil || !strings.Contains(err.Error(), "is served by the user with the number 4321") {
		t.Errorf("%v", err)
	}
}
