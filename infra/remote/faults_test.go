package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"mlframework/infra/remote"
)

// server is an ssh server of the test's own, for what sshd does not do. It counts connections.
type server struct {
	net.Listener
	seen atomic.Int32
}

func serve(t *testing.T, each func(n int, c net.Conn)) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{Listener: l}
	var conns sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		conns.Wait()
	})
	conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n := int(s.seen.Add(1))
			conns.Go(func() {
				defer c.Close()
				each(n, c)
			})
		}
	})
	return s
}

// shake lets everybody or nobody in, with a fresh host key, and answers nothing but keepalives.
func shake(t *testing.T, c net.Conn, let bool) {
	key, err := ssh.NewSignerFromKey(newKey(t))
	if err != nil {
		t.Error(err)
		return
	}
	config := &ssh.ServerConfig{PublicKeyCallback: func(ssh.ConnMetadata,
		ssh.PublicKey) (*ssh.Permissions, error) {
		if !let {
			return nil, errors.New("no")
		}
		return nil, nil
	}}
	config.AddHostKey(key)
	conn, channels, requests, err := ssh.NewServerConn(c, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	go func() {
		for range channels { // an open that is never answered
		}
	}()
	_ = conn.Wait()
}

func TestConnectTriesAgainWhereItHelps(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.key(t, "id_ed25519", "")
	for _, c := range []struct {
		name  string
		each  func(n int, c net.Conn)
		known string
		kind  remote.Kind
		tries int32
	}{
		{"hung up on, twice", func(n int, c net.Conn) {
			if n > 2 {
				shake(t, c, true)
			}
		}, "", "", 3},
		{"hung up on, always", func(int, net.Conn) {}, "", remote.Reset, 3},
		{"hung up on with words", func(_ int, c net.Conn) {
			io.WriteString(c, "Exceeded MaxStartups\r\n")
		}, "", remote.Reset, 3},
		{"another host key", func(_ int, c net.Conn) { shake(t, c, true) },
			string(ssh.MarshalAuthorizedKey(public(t, newKey(t)))), remote.HostChanged, 1},
		{"not let in", func(_ int, c net.Conn) { shake(t, c, false) }, "", remote.BadLogin, 1},
		{"not ssh", func(_ int, c net.Conn) {
			io.WriteString(c, strings.Repeat("HTTP/1.1 400 Bad Request\r\n", 2000))
		}, "", remote.NoSSH, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, o := serve(t, c.each), h.options()
			file := filepath.Join(t.TempDir(), "known")
			write(t, file, "")
			if c.known != "" {
				write(t, file, "* "+c.known)
			}
			write(t, file+".config", "UserKnownHostsFile "+file+"\n")
			o.Config = []string{file + ".config"}
			to := remote.Target{Name: s.Addr().String()}
			if c.kind == "" {
				connect(t, o, to).Close()
			} else {
				refused(t, o, to, c.kind)
			}
			if n := s.seen.Load(); n != c.tries {
				t.Errorf("%d connections, want %d", n, c.tries)
			}
		})
	}
}

func TestWhyAHostIsNotReached(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	key := h.key(t, "id_ed25519", "")
	o := h.options()
	brief := o // for who does not answer
	brief.Timeout = 300 * time.Millisecond
	mute := serve(t, func(_ int, c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	closed := fmt.Sprintf("127.0.0.1:%d", closedPort(t))
	refused(t, o, remote.Target{Name: "no-such-host.invalid"}, remote.UnknownName,
		"no-such-host.invalid", "spelling")
	refused(t, o, remote.Target{Name: closed}, remote.Refused, "nothing listens on "+closed)
	refused(t, brief, remote.Target{Name: mute.Addr().String()}, remote.TimedOut, "within 300ms")
	half := serve(t, func(_ int, c net.Conn) {
		io.WriteString(c, "SSH-2.0-half\r\n")
		_, _ = io.Copy(io.Discard, c)
	})
	refused(t, brief, remote.Target{Name: half.Addr().String()}, remote.TimedOut, "within 300ms")
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	time.AfterFunc(20*time.Millisecond, func() { stop(why) })
	if _, err := remote.New(h.options()).Connect(ctx,
		remote.Target{Name: mute.Addr().String()}); err != why {
		t.Errorf("with a context that ended: %v", err)
	}

	good := startSSHD(t)
	good.admit(t, key)
	targets := []remote.Target{{Name: "no-such-host.invalid"}, {Name: good.name()}, {Name: closed},
		{Name: remote.Local}}
	hosts, err := remote.New(o).ConnectAll(t.Context(), targets)
	lines := strings.Split(fmt.Sprint(err), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], closed) || !strings.Contains(lines[1],
		"no-such-host") {
		t.Errorf("the faults of all: %v", err)
	}
	for i, there := range []bool{false, true, false, true} {
		if (hosts[i] != nil) != there {
			t.Errorf("%s: %v", targets[i].Name, hosts[i])
		} else if there {
			hosts[i].Close()
		}
	}
}

func TestNoMoreThanSixteenConnectAtOnce(t *testing.T) {
	t.Parallel()
	h, now, most := newHome(t), atomic.Int32{}, atomic.Int32{}
	release := make(chan struct{})
	s := serve(t, func(int, net.Conn) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		<-release
		now.Add(-1)
	})
	targets := make([]remote.Target, 40)
	for i := range targets {
		targets[i].Name = s.Addr().String()
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = remote.New(h.options()).ConnectAll(ctx, targets)
	}()
	eventually(t, "sixteen are connecting", func() bool { return now.Load() == 16 })
	close(release)
	eventually(t, "more have connected", func() bool { return s.seen.Load() > 30 })
	stop()
	<-done
	if most.Load() > 16 {
		t.Errorf("%d at once", most.Load())
	}
}

func TestMaxStartups(t *testing.T) {
	t.Parallel()
	s, h := startSSHD(t, "MaxStartups 2"), newHome(t)
	s.admit(t, h.key(t, "id_ed25519", ""))
	var blocking []net.Conn
	for range 2 {
		c, err := net.Dial("tcp", s.name())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		blocking = append(blocking, c)
	}
	o := h.options()
	o.Logger = slog.New(slog.NewTextHandler(writer(func(line string) {
		if strings.Contains(line, "connecting again") {
			for _, c := range blocking {
				c.Close()
			}
			eventually(t, "sshd has seen them end", func() bool {
				return strings.Count(s.said(), "closed by 127.0.0.1")+strings.Count(s.said(),
					"reset by 127.0.0.1") == len(blocking)
			})
		}
	}), &slog.HandlerOptions{Level: slog.LevelDebug}))
	connect(t, o, remote.Target{Name: s.name()})
	eventually(t, "sshd says that it dropped one", func() bool {
		return strings.Contains(s.said(), "MaxStartups")
	})
}

type writer func(string)

func (w writer) Write(p []byte) (int, error) {
	w(string(p))
	return len(p), nil
}

// One session at a time is enough, also where sshd is slow to notice that one has ended.
func TestOneSession(t *testing.T) {
	t.Parallel()
	h, _, _ := connected(t, "MaxSessions 1")
	for range 20 {
		if err := h.Run(t.Context(), remote.Command{Argv: []string{"true"}}); err != nil {
			t.Error(err)
		}
	}
	conn, err := h.Pipe(t.Context(), remote.Command{Argv: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	if err := h.Run(ctx, remote.Command{Argv: []string{"true"}}); !errors.Is(err,
		context.DeadlineExceeded) {
		t.Errorf("beside the only session: %v", err)
	}
	err = h.Run(t.Context(), remote.Command{Argv: []string{"true"}})
	faulty(t, err, remote.NoSession, "MaxSessions")
	conn.Close()
	if err := h.Run(t.Context(), remote.Command{Argv: []string{"true"}}); err != nil {
		t.Errorf("after it: %v", err)
	}
}

// A session that has just ended may still count on the host: beside one that stays open, commands
// go on all the same.
func TestTwoSessions(t *testing.T) {
	t.Parallel()
	h, _, _ := connected(t, "MaxSessions 2")
	conn, err := h.Pipe(t.Context(), remote.Command{Argv: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for range 20 {
		if err := h.Run(t.Context(), remote.Command{Argv: []string{"true"}}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatSSHDForbids(t *testing.T) {
	t.Parallel()
	none, _, _ := connected(t, "MaxSessions 0")
	faulty(t, none.Run(t.Context(), remote.Command{Argv: []string{"true"}}), remote.NoSession,
		"MaxSessions")
	for _, line := range []string{"AllowTcpForwarding no", "AllowStreamLocalForwarding no"} {
		h, _, _ := connected(t, line)
		if err := h.Run(t.Context(), remote.Command{Argv: []string{"true"}}); err != nil {
			t.Errorf("%s: a command: %v", line, err)
		}
	}
}
