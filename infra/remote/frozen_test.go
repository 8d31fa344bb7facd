package remote_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mlframework/infra/remote"
)

// wire is what is between us and a host. It can be held, and cut.
type wire struct {
	gate  sync.RWMutex
	held  bool
	conns sync.Map
	heard atomic.Int64 // bytes from the host
}

func (w *wire) hold() { w.held = true; w.gate.Lock() }
func (w *wire) cut()  { w.conns.Range(func(c, _ any) bool { c.(net.Conn).Close(); return true }) }

// frozen is a host behind a wire.
func frozen(t *testing.T, every time.Duration) (remote.Host, *wire) {
	t.Helper()
	s, person, w := startSSHD(t), newHome(t), &wire{}
	s.admit(t, person.key(t, "id_ed25519", ""))
	proxy := serve(t, func(_ int, c net.Conn) {
		to, err := net.Dial("tcp", s.name())
		if err != nil {
			t.Error(err)
			return
		}
		w.conns.Store(to, nil)
		defer to.Close()
		back := make(chan struct{})
		go func() {
			defer close(back)
			_, _ = io.Copy(through{c, w, &w.heard}, to)
			c.Close()
		}()
		_, _ = io.Copy(through{to, w, new(atomic.Int64)}, c)
		to.Close()
		<-back
	})
	o := person.options()
	o.KeepAlive = every
	h := connect(t, o, remote.Target{Name: proxy.Addr().String()})
	t.Cleanup(func() {
		if w.held {
			w.gate.Unlock()
		}
	})
	return h, w
}

// through lets bytes through while nobody holds the wire, and counts them.
type through struct {
	to   io.Writer
	wire *wire
	n    *atomic.Int64
}

func (g through) Write(p []byte) (int, error) {
	g.wire.gate.RLock()
	defer g.wire.gate.RUnlock()
	g.n.Add(int64(len(p)))
	return g.to.Write(p)
}

func TestAFrozenHostIsGivenUp(t *testing.T) {
	t.Parallel()
	// given up after three times that, which no busy machine takes to answer
	h, w := frozen(t, 3*time.Second)
	conn, err := h.Pipe(t.Context(), remote.Command{Argv: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := h.Run(t.Context(), remote.Command{Argv: []string{"true"}}); err != nil {
		t.Fatal(err)
	}
	before := w.heard.Load()
	eventually(t, "a quiet host answers a keepalive", func() bool {
		return w.heard.Load() > before
	})
	faults := make(chan error, 5)
	var out signals
	go func() {
		faults <- h.Run(t.Context(), remote.Command{Script: "echo up; sleep 120", Stdout: &out})
	}()
	out.wait(t, "up")
	w.hold()
	go func() { faults <- h.Run(t.Context(), remote.Command{Argv: []string{"true"}}) }()
	go func() {
		_, err := h.Pipe(t.Context(), remote.Command{Argv: []string{"cat"}})
		faults <- err
	}()
	go func() { _, err := io.ReadAll(conn); faults <- err }()
	go func() { _, err := io.Copy(conn, zeros{}); faults <- err }()
	for range cap(faults) {
		faulty(t, <-faults, remote.Lost, "no answer for 9s")
	}
	<-h.Done()
	faulty(t, h.Err(), remote.Lost)
}

func TestNothingWaitsForAFrozenHost(t *testing.T) {
	t.Parallel()
	h, w := frozen(t, time.Hour)
	conn, err := h.Pipe(t.Context(), remote.Command{Argv: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	w.hold()
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if err := h.Run(ctx, remote.Command{Argv: []string{"true"}}); !errors.Is(err,
		context.DeadlineExceeded) {
		t.Error(err)
	}
	if _, err := h.Pipe(ctx, remote.Command{Argv: []string{"true"}}); !errors.Is(err,
		context.DeadlineExceeded) {
		t.Error(err)
	}
	_ = conn.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
	if _, err := io.Copy(conn, zeros{}); err == nil {
		t.Error("a write that nobody takes")
	}
	conn.Close()
	h.Close()
	<-h.Done()
}

func TestACutConnectionIsNoEnd(t *testing.T) {
	t.Parallel()
	h, w := frozen(t, time.Hour)
	conn, err := h.Pipe(t.Context(), remote.Command{Argv: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var out signals
	ended := make(chan error)
	go func() {
		ended <- h.Run(t.Context(), remote.Command{Script: "echo up; sleep 120", Stdout: &out})
	}()
	out.wait(t, "up")
	w.cut()
	_, err = io.ReadAll(conn)
	faulty(t, err, remote.Lost)
	faulty(t, <-ended, remote.Lost)
	faulty(t, h.Run(t.Context(), remote.Command{Argv: []string{"true"}}), remote.Lost)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
