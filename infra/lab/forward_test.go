package lab_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"mlframework/infra/lab"
)

// echo is a server that sends back what it gets.
func echo(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				io.Copy(conn, conn)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		all.Wait()
	})
	return listener.Addr().String()
}

func dial(t *testing.T, f *lab.Forwarder) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", f.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn.(*net.TCPConn)
}

// roundTrip sends a byte and gives how long its echo took, or why none came in time.
func roundTrip(conn net.Conn, within time.Duration) (time.Duration, error) {
	begin := time.Now()
	conn.SetDeadline(begin.Add(within))
	if _, err := conn.Write([]byte{7}); err != nil {
		return 0, err
	}
	_, err := io.ReadFull(conn, make([]byte, 1))
	return time.Since(begin), err
}

func TestForwarderDelays(t *testing.T) {
	t.Parallel()
	f := lab.Forward(t, echo(t))
	f.Set(lab.Link{RoundTrip: 200 * time.Millisecond})
	conn := dial(t, f)
	if took, err := roundTrip(conn, late); err != nil || took < 200*time.Millisecond {
		t.Errorf("a round trip took %s, %v", took, err)
	}
	// What is under way does not wait for what was before it: 8 MiB in chunks, one by one, would
	// take 25 s each way.
	data := bytes.Repeat([]byte("0123456789abcdef"), 8<<16)
	go func() {
		conn.Write(data)
		conn.CloseWrite()
	}()
	begin := time.Now()
	conn.SetDeadline(begin.Add(late))
	got, err := io.ReadAll(conn)
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d of %d bytes came back in %s, %v", len(got), len(data), time.Since(begin), err)
	}
}

func TestForwarderThrottles(t *testing.T) {
	t.Parallel()
	f := lab.Forward(t, echo(t))
	f.Set(lab.Link{BytesPerSecond: 100_000})
	conn := dial(t, f)
	begin := time.Now()
	go conn.Write(make([]byte, 50_000))
	conn.SetDeadline(begin.Add(late))
	if _, err := io.ReadFull(conn, make([]byte, 50_000)); err != nil ||
		time.Since(begin) < 450*time.Millisecond {
		t.Errorf("50 kB at 100 kB/s took %s, %v", time.Since(begin), err)
	}
}

func TestForwarderFreezesAndHalfOpensOneConnection(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		link  lab.Link
		first byte // that comes back through the faulty one
	}{
		{"frozen", lab.Link{Frozen: true}, 1},
		{"half open", lab.Link{Silent: true}, 2},
	} {
		f := lab.Forward(t, echo(t))
		conns := []net.Conn{dial(t, f), dial(t, f)}
		for _, conn := range conns {
			if _, err := roundTrip(conn, late); err != nil {
				t.Fatal(err)
			}
		}
		faulty := f.Conns()[0]
		faulty.Set(tt.link)
		type echoed struct {
			of   int
			what [1]byte
			err  error
		}
		came := make(chan echoed, 2)
		for i, conn := range conns {
			conn.SetDeadline(time.Now().Add(late))
			if _, err := conn.Write([]byte{1}); err != nil {
				t.Fatal(err)
			}
			go func() {
				e := echoed{of: i}
				_, e.err = io.ReadFull(conn, e.what[:])
				came <- e
			}()
		}
		healthy := <-came
		if healthy.err != nil || healthy.what[0] != 1 {
			t.Fatalf("%s: the other connection: %v", tt.name, healthy)
		}
		select {
		case e := <-came:
			t.Fatalf("%s: one connection should wait: %v", tt.name, e)
		case <-time.After(soon):
		}
		// what it gets late is not lost
		for end := time.Now().Add(late); tt.link.Silent && faulty.Lost() == 0; {
			if time.Now().After(end) {
				t.Fatal("nothing was lost")
			}
			time.Sleep(time.Millisecond)
		}
		faulty.Set(lab.Link{})
		conns[1-healthy.of].SetDeadline(time.Now().Add(late))
		if _, err := conns[1-healthy.of].Write([]byte{2}); err != nil {
			t.Fatal(err)
		}
		if e := <-came; e.err != nil || e.what[0] != tt.first {
			t.Errorf("%s: afterwards comes %v, not %d", tt.name, e, tt.first)
		}
	}
}

func TestForwarderCutsAndHeals(t *testing.T) {
	t.Parallel()
	f := lab.Forward(t, echo(t))
	conn := dial(t, f)
	if _, err := roundTrip(conn, late); err != nil {
		t.Fatal(err)
	}
	f.Cut()
	if _, err := roundTrip(conn, late); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err,
		syscall.EPIPE) {
		t.Errorf("a connection that is cut: %v", err)
	}
	if other, err := net.Dial("tcp", f.Address); err == nil { // or it was reset at once
		defer other.Close()
		if _, err := roundTrip(other, late); err == nil {
			t.Error("a new connection works while all are cut")
		}
	}
	f.Heal()
	if _, err := roundTrip(dial(t, f), late); err != nil {
		t.Errorf("after it healed: %v", err)
	}
}
