package docker_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"mlframework/infra/docker"
)

// errForbidden is what a client of sshd hears where forwarding is off, and where there is no socket, too.
var errForbidden = errors.New("ssh: rejected: administratively prohibited (open failed)")

func TestOpenAgreesOnAVersion(t *testing.T) {
	t.Parallel()
	e := engine(t)
	i, err := e.Info(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	if i.Version == "" || len(i.Security) == 0 || i.CgroupVersion != "1" && i.CgroupVersion != "2" {
		t.Errorf("the engine says %+v", i)
	}
	t.Logf("%+v", i)
	if e.Way() != "unix://"+docker.Socket {
		t.Errorf("it is reached by %s", e.Way())
	}
}

func TestOpenFallsBackToACommand(t *testing.T) {
	t.Parallel()
	engine(t)
	if _, err := exec.LookPath("docker"); err != nil {
		absent(t, "the docker command", err)
	}
	ctx := bounded(t)
	e, err := docker.Open(ctx, local{undialled: errForbidden}, docker.Options{Name: "here"})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if e.Way() != "docker system dial-stdio" {
		t.Errorf("it is reached by %s", e.Way())
	}
	c := run(t, spec(t, "serve"))
	p, err := e.ExecPipe(ctx, c, docker.Command{Argv: []string{"/probe", "upper"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	answer := make([]byte, 3)
	if _, err := io.WriteString(p, "yes\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(p, answer); err != nil || string(answer) != "YES" {
		t.Errorf("through the command: %q, %v", answer, err)
	}
}

func TestOpenSaysWhyNothingAnswers(t *testing.T) {
	t.Parallel()
	engine(t)
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(dir, "stale.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	bare, withClient := commands(t, "sh", "id"), commands(t, "sh", "id", "docker")
	missing := filepath.Join(dir, "missing.sock")
	for title, c := range map[string]struct {
		host   local
		socket string
		kind   docker.Kind
		text   string
	}{
		"not in the group":     {local{undialled: errForbidden, uid: 65534}, docker.Socket, docker.PermissionDenied, "sudo usermod -aG docker nobody"},
		"not installed":        {local{path: bare}, missing, docker.Gone, "Docker is not installed"},
		"not running":          {local{path: withClient, env: []string{"DOCKER_HOST=unix://" + stale}}, stale, docker.Gone, "sudo systemctl start docker"},
		"forwarding forbidden": {local{undialled: errForbidden, path: bare}, docker.Socket, docker.Gone, "AllowStreamLocalForwarding"},
		"nothing to look with": {local{undialled: errForbidden, path: dir}, docker.Socket, docker.Gone, "or the user may not use it"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			if c.host.uid != 0 && os.Getuid() != 0 {
				t.Skip("NOT TESTED: only root can run a command as another user")
			}
			_, err := docker.Open(bounded(t), c.host, docker.Options{Name: "gpu1", Sockets: []string{c.socket}})
			want(t, err, c.kind, c.text, "reach docker on gpu1: ")
		})
	}
}

// commands makes a folder in which only these commands are found.
func commands(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, n := range names {
		at, err := exec.LookPath(n)
		if err != nil {
			absent(t, n, err)
		}
		if err := os.Symlink(at, filepath.Join(dir, n)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// front stands before the engine's socket with a handler of its own.
func front(t *testing.T, change func(*http.Response) error) string {
	t.Helper()
	engine(t)
	socket := filepath.Join(t.TempDir(), "front.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return local{}.Dial(ctx, "unix", docker.Socket)
	}}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "docker"})
	proxy.Transport, proxy.ModifyResponse = transport, change
	server := &http.Server{Handler: proxy}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() {
		server.Close()
		serving.Wait()
		transport.CloseIdleConnections()
	})
	return socket
}

func TestAnEngineThatIsTooOld(t *testing.T) {
	t.Parallel()
	socket := front(t, func(r *http.Response) error {
		r.Header.Set("Api-Version", "1.39")
		return nil
	})
	_, err := docker.Open(bounded(t), local{}, docker.Options{Name: "gpu1", Sockets: []string{socket}})
	want(t, err, docker.TooOld, `"1.39"`, "1.40", "upgrade Docker")
}

func TestAnEngineThatGoesAway(t *testing.T) {
	t.Parallel()
	engine(t)
	ctx, host := bounded(t), &cutting{}
	e, err := docker.Open(ctx, host, docker.Options{Name: "gpu1"})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	c := run(t, spec(t, "serve"))
	waited := make(chan error)
	go func() {
		_, err := e.Wait(ctx, c)
		waited <- err
	}()
	p, err := e.ExecPipe(ctx, c, docker.Command{Argv: []string{"/probe", "cat"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	host.cut()
	want(t, <-waited, docker.Gone, "wait for container "+c+" on gpu1")
	_, err = io.ReadAll(p)
	want(t, err, docker.Gone)
	_, err = e.Find(ctx, c)
	want(t, err, docker.Gone)
}

func TestOpenEndsWithItsContext(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "frozen.sock")
	l, err := net.Listen("unix", socket) // connections queue up, and nobody answers
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(bounded(t), 100*time.Millisecond)
	defer cancel()
	_, err = docker.Open(ctx, local{}, docker.Options{Name: "gpu1", Sockets: []string{socket}})
	want(t, err, docker.Cancelled, "reach docker on gpu1")
}

// cutting is this machine with connections that can be cut, all at once and for good.
type cutting struct {
	local
	mu    sync.Mutex
	conns []net.Conn
	off   bool
}

func (c *cutting) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.off {
		return nil, io.EOF
	}
	conn, err := c.local.Dial(ctx, network, address)
	if err == nil {
		c.conns = append(c.conns, conn)
	}
	return conn, err
}

func (c *cutting) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off = true
	for _, conn := range c.conns {
		_ = conn.Close()
	}
}
