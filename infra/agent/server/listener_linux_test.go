package server_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// asListener has this program listen at a socket instead of testing.
const asListener = "SERVER_TEST_LISTENS"

func TestMain(m *testing.M) {
	file := os.Getenv(asListener)
	if file == "" {
		os.Exit(m.Run())
	}
	l, err := net.Listen("unix", file)
	if err != nil {
		os.Exit(1)
	}
	os.Stdout.Close()
	_, _ = os.Stdin.Read(make([]byte, 1)) // until its end
	l.Close()
}

// listener is a socket at which a process of another user listens, and the folder that it is in.
func listener(t *testing.T, uid uint32) (file, dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "listener-") // that of the test is closed to others
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chown(dir, int(uid), -1))
	program, err := os.ReadFile("/proc/self/exe")
	must(t, err)
	copied := filepath.Join(dir, "listens")
	must(t, os.WriteFile(copied, program, 0o755))
	file = filepath.Join(dir, "s")
	c := exec.Command(copied)
	c.Dir, c.Env = dir, append(os.Environ(), asListener+"="+file)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	in, err := c.StdinPipe()
	must(t, err)
	out, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	t.Cleanup(func() {
		in.Close()
		_ = c.Wait()
	})
	_, _ = out.Read(make([]byte, 1)) // its end: it listens
	return file, dir
}
