package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mlframework/infra/engine"
)

// asksFor is the socket at which this program looks for an engine instead of testing.
const asksFor = "ENGINE_TEST_SOCKET"

func TestMain(m *testing.M) {
	socket := os.Getenv(asksFor)
	if socket == "" {
		os.Exit(m.Run())
	}
	d := &engine.Dialer{Socket: socket}
	for range 2 { // the second begins with the way that was found
		fmt.Println(get(context.Background(), d))
	}
}

// get asks the engine for a page, and tells what came.
func get(ctx context.Context, d *engine.Dialer) string {
	conn, err := d.Dial(ctx)
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET /version HTTP/1.0\r\n\r\n")
	if err := conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		return err.Error()
	}
	text, err := io.ReadAll(conn)
	if err != nil {
		return err.Error()
	}
	_, body, _ := strings.Cut(string(text), "\r\n\r\n")
	return body
}

// docker answers for an engine at a socket.
func docker(t *testing.T, socket string) { engineAt(t, socket, false) }

// engineAt answers for an engine at a socket: once, if it stops with the first answer.
func engineAt(t *testing.T, socket string, once bool) {
	t.Helper()
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_ping", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		if once {
			l.Close()
		}
		fmt.Fprint(w, "26.1")
	})
	s := &http.Server{Handler: mux}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = s.Serve(l)
	}()
	t.Cleanup(func() {
		s.Close()
		<-served
	})
}

// machine is what a machine has of Docker: a folder with commands, and a socket in another.
type machine struct {
	t         *testing.T
	bin, dir  string
	socket    string // where the engine is looked for
	elsewhere string // another socket
	uid       uint32 // who looks for it; 0: who tests
}

// command puts a script among the commands.
func (m *machine) command(name, script string) {
	m.t.Helper()
	text := "#!/bin/sh\nPATH=/usr/bin:/bin\n" + script + "\n"
	if err := writeProgram(filepath.Join(m.bin, name), []byte(text), 0o755); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) stale(socket string) {
	m.t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		m.t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
}

// dialStdio has a command be `docker system dial-stdio` to the other socket.
func (m *machine) dialStdio(name, words string) {
	m.command(name, fmt.Sprintf("[ \"$*\" = '%s' ] || exit 9\nexec socat - UNIX-CONNECT:%s", words,
		m.elsewhere))
}

func TestDial(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		has  func(*machine)
		want string
	}{
		"a socket": {func(m *machine) { docker(m.t, m.socket) }, "26.1\n26.1\n"},
		"the user's docker command": {func(m *machine) {
			docker(m.t, m.elsewhere)
			m.dialStdio("docker", "system dial-stdio")
		}, "26.1\n26.1\n"},
		"the docker command as root": {func(m *machine) {
			docker(m.t, m.elsewhere)
			m.stale(m.socket)
			m.command("docker", "exit 1")
			m.dialStdio("sudo", "-n docker system dial-stdio")
		}, "26.1\n26.1\n"},
		"not in the group": {func(m *machine) {
			m.uid = 65534
			docker(m.t, m.socket)
			m.command("docker", "exit 1")
			m.command("sudo", "echo a password is required >&2; exit 1")
			if err := os.Chmod(m.socket, 0o600); err != nil {
				m.t.Fatal(err)
			}
		}, "nobody may not use SOCKET, and sudo asks for a password; let an administrator run " +
			"`sudo usermod -aG docker nobody` there, then log in again"},
		"not running": {func(m *machine) {
			m.stale(m.socket)
			m.command("docker", "exit 1")
		}, "Docker is installed but does not answer at SOCKET: start it with " +
			"`sudo systemctl start docker` there"},
		"stopped after it was found": {func(m *machine) {
			engineAt(m.t, m.elsewhere, true)
			m.stale(m.socket)
			m.dialStdio("docker", "system dial-stdio")
		}, "26.1\nDocker is installed but does not answer at SOCKET: start it with " +
			"`sudo systemctl start docker` there"},
		"only the daemon's program": {func(m *machine) { m.command("dockerd", "") },
			"Docker is installed but does not answer at SOCKET"},
		"not installed": {func(*machine) {}, "Docker is not installed there: see https://docs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, err := os.MkdirTemp("", "engine-") // that of the test is closed to others
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			m := &machine{t: t, dir: dir, bin: filepath.Join(dir, "bin"),
				socket: filepath.Join(dir, "docker.sock"), elsewhere: filepath.Join(dir,
					"other.sock")}
			if err := errors.Join(os.Chmod(dir, 0o755), os.Mkdir(m.bin, 0o755)); err != nil {
				t.Fatal(err)
			}
			c.has(m)
			if got, want := m.look(), strings.ReplaceAll(c.want, "SOCKET", m.socket); !strings.
				HasPrefix(got, want) {
				t.Errorf("got %q\nwant %q", got, want)
			}
		})
	}
}

// look has this program look for the engine, as a user and with the commands that there are.
func (m *machine) look() string {
	m.t.Helper()
	for _, needed := range []string{"socat"} {
		if _, err := exec.LookPath(needed); err != nil {
			m.t.Skip("NOT TESTED: this needs " + needed)
		}
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		m.t.Skip("NOT TESTED: hosts are Linux")
	}
	program := filepath.Join(m.dir, "looks")
	if err := writeProgram(program, self, 0o755); err != nil {
		m.t.Fatal(err)
	}
	c := exec.CommandContext(m.t.Context(), program)
	c.Dir, c.Env = m.dir, []string{asksFor + "=" + m.socket, "PATH=" + m.bin, "HOME=" + m.dir,
		"USER=nobody"}
	if m.uid != 0 {
		if os.Getuid() != 0 {
			m.t.Skip("NOT TESTED: only root can run a program as another user")
		}
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: m.uid,
			Gid: m.uid}}
	}
	out, err := c.CombinedOutput()
	if err != nil {
		m.t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

func TestDialEndsWithItsContext(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "frozen.sock")
	l, err := net.Listen("unix", socket) // connections queue up, and nobody answers
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error)
	go func() {
		_, err := (&engine.Dialer{Socket: socket}).Dial(ctx)
		ended <- err
	}()
	if _, err := l.Accept(); err != nil {
		t.Fatal(err)
	}
	cancel(why)
	if err := <-ended; !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}

// writeProgram writes a file while nothing forks: a child that inherits the open file would keep it
// from being executed.
func writeProgram(path string, text []byte, mode os.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, text, mode)
}
