package server_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"mlframework/infra/agent"
	"mlframework/infra/agent/server"
)

// start runs an agent in this process, and returns a client of it.
func start(t *testing.T, o server.Options) *agent.Client {
	t.Helper()
	c, end := run(t, o)
	t.Cleanup(end)
	return c
}

// run is start, and end ends the agent and waits until it has.
func run(t *testing.T, o server.Options) (c *agent.Client, end func()) {
	t.Helper()
	here, there := net.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(t.Context(), there, o) }()
	ready := make([]byte, len(agent.Ready))
	if _, err := here.Read(ready); err != nil || string(ready) != agent.Ready {
		t.Fatalf("%q, %v", ready, err)
	}
	c = agent.NewClient("gpu1", here)
	return c, func() {
		c.Close()
		if err := <-ended; err != nil {
			t.Errorf("the agent ended with %v", err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestLock(t *testing.T) {
	t.Parallel()
	a, b := start(t, server.Options{}), start(t, server.Options{})
	q := agent.LockRequest{File: filepath.Join(t.TempDir(), "ml", ".c.lock"),
		Holder: "anna@laptop, since noon: infrainit"}
	held, err := a.Lock(t.Context(), q)
	must(t, err)
	q.Holder = "ben@desk, since one: infrainit"
	_, err = b.Lock(t.Context(), q)
	if e, ok := errors.AsType[*agent.Error](err); !ok ||
		e.Holder != "anna@laptop, since noon: infrainit" {
		t.Errorf("%v", err)
	}
	held.Close()
	held, err = b.Lock(t.Context(), q)
	must(t, err)
	if text, err := os.ReadFile(q.File); err != nil || string(text) != q.Holder+"\n" {
		t.Errorf("%q, %v", text, err)
	}
	q.Break = true
	taken, err := a.Lock(t.Context(), q)
	must(t, err)
	held.Close()
	q.Break = false
	if _, err = b.Lock(t.Context(), q); err == nil {
		t.Error("what was taken away was given back by whoever had it")
	}
	taken.Close()
	if text, err := os.ReadFile(q.File); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left behind: %q, %v", text, err)
	}
}

// A lock goes with the connection, and one that is waited for no longer is not taken.
func TestLockOfAClientThatIsGone(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "ml")
	file := filepath.Join(folder, ".c.lock")
	here, there := net.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(t.Context(), there, server.Options{}) }()
	if _, err := here.Read(make([]byte, len(agent.Ready))); err != nil {
		t.Fatal(err)
	}
	c := agent.NewClient("gpu1", here)
	_, err := c.Lock(t.Context(), agent.LockRequest{File: file, Holder: "anna"})
	must(t, err)
	here.Close()
	must(t, <-ended)
	other := start(t, server.Options{})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if _, err := other.Lock(ctx, agent.LockRequest{File: file}); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	held, err := other.Lock(t.Context(), agent.LockRequest{File: file, Holder: "ben"})
	must(t, err)
	held.Close()
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder that was made for the lock: %v", err)
	}
}
