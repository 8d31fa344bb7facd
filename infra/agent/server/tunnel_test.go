package server_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"mlframework/infra/agent"
	"mlframework/infra/agent/server"
)

// far listens on a Unix socket, or else on a port of the loopback, and has each connection served.
func far(t *testing.T, network string, serve func(net.Conn)) net.Addr {
	t.Helper()
	at := "127.0.0.1:0"
	if network == "unix" {
		at = filepath.Join(t.TempDir(), "s")
	}
	l, err := net.Listen(network, at)
	must(t, err)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	return l.Addr()
}

// tunnels are the ways to open one to what serves, by name.
func tunnels(t *testing.T, serve func(net.Conn)) map[string]func() (net.Conn, error) {
	t.Helper()
	socket := far(t, "unix", serve)
	port := far(t, "tcp", serve).(*net.TCPAddr).Port
	must(t, os.Chmod(filepath.Dir(socket.String()), 0o700))
	c := start(t, server.Options{Docker: func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket.String())
	}})
	return map[string]func() (net.Conn, error){
		"docker": func() (net.Conn, error) { return c.Docker(t.Context()) },
		"master": func() (net.Conn, error) {
			return c.Master(t.Context(), agent.Socket{Path: socket.String(), Owner: os.Getuid()})
		},
		"port": func() (net.Conn, error) { return c.Port(t.Context(), port) },
	}
}

// opened opens one, which is closed after the test.
func opened(t *testing.T, open func() (net.Conn, error)) net.Conn {
	t.Helper()
	conn, err := open()
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

func closeWrite(t *testing.T, conn net.Conn) {
	t.Helper()
	must(t, conn.(interface{ CloseWrite() error }).CloseWrite())
}

func echo(_ *testing.T, conn net.Conn) { _, _ = io.Copy(conn, conn) }

// TestTunnel is what every tunnel has to do.
func TestTunnel(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		serve func(*testing.T, net.Conn)
		test  func(*testing.T, net.Conn)
	}{
		"bytes go both ways": {echo, func(t *testing.T, conn net.Conn) {
			sent := make([]byte, 3<<20)
			_, _ = rand.Read(sent)
			var writing sync.WaitGroup
			writing.Go(func() { _, _ = conn.Write(sent) })
			got := make([]byte, len(sent))
			_, err := io.ReadFull(conn, got)
			if err != nil || !bytes.Equal(got, sent) {
				t.Errorf("what came back is other: %v", err)
			}
			writing.Wait()
		}},
		"an answer is there before the next question": {echo, func(t *testing.T, conn net.Conn) {
			for i := range 5 {
				question, answer := fmt.Appendf(nil, "question %d\n", i), make([]byte, 11)
				_, err := conn.Write(question)
				must(t, err)
				if _, err := io.ReadFull(conn, answer); err != nil ||
					!bytes.Equal(answer, question) {
					t.Errorf("%q, %v", answer, err)
				}
			}
		}},
		"the end of what is sent is no end of what comes": {func(t *testing.T, conn net.Conn) {
			all, err := io.ReadAll(conn)
			fmt.Fprintf(conn, "%d bytes, %v", len(all), err)
		}, func(t *testing.T, conn net.Conn) {
			_, err := conn.Write([]byte("hello"))
			must(t, err)
			closeWrite(t, conn)
			if all, err := io.ReadAll(conn); string(all) != "5 bytes, <nil>" || err != nil {
				t.Errorf("%q, %v", all, err)
			}
		}},
		"the other side goes": {func(t *testing.T, conn net.Conn) {
			fmt.Fprint(conn, "bye")
		}, func(t *testing.T, conn net.Conn) {
			if all, err := io.ReadAll(conn); string(all) != "bye" || err != nil {
				t.Errorf("%q, %v", all, err)
			}
			if _, err := io.Copy(conn, zeros{}); !errors.Is(err, syscall.EPIPE) {
				t.Errorf("what is written to nobody: %v", err)
			}
		}},
		"the other side breaks off": {func(t *testing.T, conn net.Conn) {
			if c, ok := conn.(*net.TCPConn); ok {
				_ = c.SetLinger(0)
			}
			_, _ = conn.Read(make([]byte, 1)) // closed with something unread, it is reset
		}, func(t *testing.T, conn net.Conn) {
			_, err := conn.Write([]byte("hello"))
			must(t, err)
			if _, err := io.ReadAll(conn); err == nil {
				t.Error("taken for a good end")
			}
		}},
		"it is closed while it is read and written": {func(t *testing.T, conn net.Conn) {
			<-t.Context().Done() // it reads nothing, and says nothing
		}, func(t *testing.T, conn net.Conn) {
			ends := make(chan error, 2)
			go func() { _, err := io.Copy(conn, zeros{}); ends <- err }()
			go func() { _, err := conn.Read(make([]byte, 1)); ends <- err }()
			conn.Close()
			for range 2 {
				if err := <-ends; !errors.Is(err, net.ErrClosed) {
					t.Errorf("it ended with %v", err)
				}
			}
		}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			for name, open := range tunnels(t, func(conn net.Conn) { c.serve(t, conn) }) {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					c.test(t, opened(t, open))
				})
			}
		})
	}
}

// The other side is told when a tunnel is closed, and when the connection to the agent ends.
func TestTheEndOfATunnel(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	at := far(t, "unix", func(conn net.Conn) {
		_, _ = io.Copy(io.Discard, conn)
		gone <- struct{}{}
	})
	dial := func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", at.String())
	}
	c, end := run(t, server.Options{Docker: dial})
	one, err := c.Docker(t.Context())
	must(t, err)
	one.Close()
	<-gone
	other, err := c.Docker(t.Context())
	must(t, err)
	end()
	<-gone
	if _, err := io.ReadAll(other); err == nil {
		t.Error("the end of the connection was taken for that of what came")
	}
	if _, err := c.Docker(t.Context()); err == nil {
		t.Error("opened by an agent that is gone")
	}
}

func TestTunnelsThatAreNotOpened(t *testing.T) {
	t.Parallel()
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	c := start(t, server.Options{Docker: func(ctx context.Context) (net.Conn, error) {
		cancel(why)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	if _, err := c.Docker(ctx); !errors.Is(err, why) {
		t.Errorf("given up while it is opened: %v", err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	taken.Close()
	_, err = c.Port(t.Context(), taken.Addr().(*net.TCPAddr).Port)
	if _, ok := errors.AsType[*agent.Error](err); !ok {
		t.Errorf("where nobody listens: %v", err)
	}
}

// Many tunnels work side by side, and unread ones, in either direction, do not block the others.
func TestManyTunnels(t *testing.T) {
	t.Parallel()
	const unread = 10
	full := make(chan struct{}, unread) // floods of the host have filled what they may
	open := tunnels(t, func(conn net.Conn) {
		var first [1]byte
		_, _ = conn.Read(first[:])
		switch first[0] {
		case 'f':
			_, _ = io.CopyN(conn, zeros{}, 1<<20)
			full <- struct{}{}
			_, _ = io.Copy(conn, zeros{})
		case 'n':
			<-t.Context().Done()
		default:
			_, _ = conn.Write(first[:])
			echo(t, conn)
		}
	})["docker"]
	var writing sync.WaitGroup
	t.Cleanup(writing.Wait)
	for range unread {
		flood := opened(t, open)
		_, err := flood.Write([]byte("f"))
		must(t, err)
		nobody := opened(t, open)
		_, err = nobody.Write([]byte("n"))
		must(t, err)
		writing.Go(func() { _, _ = io.Copy(nobody, zeros{}) })
	}
	for range unread {
		<-full
	}
	var all sync.WaitGroup
	for i := range 200 {
		conn := opened(t, open)
		all.Go(func() {
			said := fmt.Appendf(nil, "-%d-", i)
			if _, err := conn.Write(said); err != nil {
				t.Error(err)
			}
			got := make([]byte, len(said))
			if _, err := io.ReadFull(conn, got); err != nil || !bytes.Equal(got, said) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	all.Wait()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
