package lab_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
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
	// What is under way does not wait for what was before it: 8 MiB in chunks, one by one, would take 25 s each way.
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
	if _, err := io.ReadFull(conn, make([]byte, 50_000)); err != nil || time.Since(begin) < 450*time.Millisecond {
		t.Errorf("50 kB at 100 kB/s took %s, %v", time.Since(begin), err)
	}
}

func TestForwarderFreezesAndHalfOpensOneConnection(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		link  lab.Link
		after error // what a read sees after the fault has ended
	}{
		{"frozen", lab.Link{Frozen: true}, nil},
		{"half open", lab.Link{Silent: true}, os.ErrDeadlineExceeded},
	} {
		f := lab.Forward(t, echo(t))
		one, two := dial(t, f), dial(t, f)
		for _, conn := range []net.Conn{one, two} {
			if _, err := roundTrip(conn, late); err != nil {
				t.Fatal(err)
			}
		}
		faulty := f.Conns()[0]
		faulty.Set(tt.link)
		_, err1 := roundTrip(one, soon)
		_, err2 := roundTrip(two, soon)
		if errors.Is(err1, os.ErrDeadlineExceeded) == errors.Is(err2, os.ErrDeadlineExceeded) {
			t.Errorf("%s: one connection should wait and the other not: %v, %v", tt.name, err1, err2)
		}
		if err1 == nil {
			one = two // it was the first to be taken
		}
		faulty.Set(lab.Link{})
		one.SetReadDeadline(time.Now().Add(soon))
		if _, err := io.ReadFull(one, make([]byte, 1)); !errors.Is(err, tt.after) {
			t.Errorf("%s: a read afterwards gives %v, want %v", tt.name, err, tt.after)
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
	if _, err := roundTrip(conn, late); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
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
