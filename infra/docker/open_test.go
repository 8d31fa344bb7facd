package docker_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"mlframework/infra/docker"
)

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
}

// What a host says that leads to no engine is told as it is.
func TestOpenWithoutAnEngine(t *testing.T) {
	t.Parallel()
	why := errors.New("Docker is not installed there")
	_, err := docker.Open(bounded(t), docker.Host{Name: "gpu1",
		Dial: func(context.Context) (net.Conn, error) { return nil, why }})
	want(t, err, docker.Gone)
	if err.Error() != "reach docker on gpu1: Docker is not installed there" ||
		!errors.Is(err, why) {
		t.Error(err)
	}
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
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn,
		error) {
		return local{}.dial(ctx)
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
	_, err := docker.Open(bounded(t), local{socket: socket}.host("gpu1"))
	want(t, err, docker.TooOld, `"1.39"`, "1.40", "upgrade Docker")
}

func TestAnEngineThatGoesAway(t *testing.T) {
	t.Parallel()
	engine(t)
	ctx, host := bounded(t), &cutting{}
	e, err := docker.Open(ctx, docker.Host{Name: "gpu1", Dial: host.dial})
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
	followed := make(chan error)
	log := &noticed{written: make(chan struct{})}
	go func() { followed <- e.Logs(ctx, c, docker.LogOptions{Follow: true}, log) }()
	<-log.written
	host.cut()
	want(t, <-waited, docker.Gone, "wait for container "+c+" on gpu1")
	want(t, <-followed, docker.Gone)
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
	_, err = docker.Open(ctx, local{socket: socket}.host("gpu1"))
	want(t, err, docker.Cancelled, "reach docker on gpu1")
}

// cutting is this machine with connections that can be cut, all at once and for good.
type cutting struct {
	local
	mu    sync.Mutex
	conns []net.Conn
	off   bool
}

func (c *cutting) dial(ctx context.Context) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.off {
		return nil, io.EOF
	}
	conn, err := c.local.dial(ctx)
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

// noticed tells when something was written to it.
type noticed struct {
	once    sync.Once
	written chan struct{}
}

func (n *noticed) Write(p []byte) (int, error) {
	n.once.Do(func() { close(n.written) })
	return len(p), nil
}
