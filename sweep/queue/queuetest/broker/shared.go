package broker

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
)

// Shared is one broker for all tests of a binary, as a boot takes seconds. It starts with its first
// use; TestMain calls Stop. The zero value, with Options, is ready.
type Shared struct {
	Options Options

	once   sync.Once
	broker *Broker
	err    error
	mu     sync.Mutex
	vhosts int
}

// Get gives the broker. A test that takes it down has to bring it up again, and not to run beside
// others.
func (s *Shared) Get(t testing.TB) *Broker {
	t.Helper()
	s.once.Do(func() {
		var dir string
		if dir, s.err = os.MkdirTemp("", "broker"); s.err == nil {
			s.broker, s.err = start(dir, s.Options)
		}
	})
	if s.err != nil {
		absent(t, s.err)
	}
	return s.broker
}

// Vhost makes an empty vhost for one test and drops it at the test's end.
func (s *Shared) Vhost(t testing.TB) (name string) {
	t.Helper()
	b := s.Get(t)
	s.mu.Lock()
	s.vhosts++
	name = fmt.Sprintf("test%d", s.vhosts)
	s.mu.Unlock()
	b.MakeVhost(t, name)
	t.Cleanup(func() { b.DropVhost(t, name) })
	return name
}

// Stop ends the broker, if it was ever started, and removes its files.
func (s *Shared) Stop() {
	if s.broker == nil {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	if out, err := exec.CommandContext(ctx, s.broker.script, "kill",
		s.broker.Dir).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "end the broker of the tests: %v\n%s", err, out)
	}
	if err := os.RemoveAll(s.broker.Dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
