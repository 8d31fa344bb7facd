package amqp_test

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/queue/amqp"
	"mlframework/sweep/queue/queuetest"
	"mlframework/sweep/queue/queuetest/broker"
	"mlframework/sweep/queue/rights"
)

// shared is one broker for all tests of this package; those that break it have their own.
var shared = broker.Shared{Options: broker.Options{TLS: true,
	Set: []string{fmt.Sprint("max_message_size=", rights.MaxMessageBytes)}}}

func TestMain(m *testing.M) {
	code := m.Run()
	shared.Stop()
	os.Exit(code)
}

// patience is how long anything may take before a test gives up.
const patience = 2 * time.Minute

// site is the endpoints of a master and its workers at one vhost, through a proxy.
type site struct {
	broker  *broker.Broker
	vhost   string
	proxy   *broker.Proxy
	options amqp.Options
	hub     *amqp.MasterEndpoint

	said lockedBuffer // what the master's endpoint logs

	mu    sync.Mutex
	ports map[string]*amqp.WorkerEndpoint
}

// open makes a site in an empty vhost of the shared broker.
func open(t testing.TB) *site {
	t.Helper()
	return openAt(t, shared.Get(t), shared.Vhost(t))
}

func openAt(t testing.TB, b *broker.Broker, vhost string) *site {
	t.Helper()
	s := &site{broker: b, vhost: vhost, proxy: broker.Through(t, b.URL),
		ports: map[string]*amqp.WorkerEndpoint{}}
	s.options = amqp.Options{URL: broker.In(s.proxy.URL, vhost), Credentials: b.Master(t, vhost),
		Log: slog.New(slog.NewTextHandler(io.MultiWriter(t.Output(), &s.said), nil))}
	if _, measured := t.(*testing.B); measured { // without what only tests need
		s.options.URL, s.options.Log = broker.In(b.URL, vhost), nil
	}
	hub, err := amqp.NewMasterEndpoint(s.options)
	if err != nil {
		t.Fatal(err)
	}
	s.hub = hub
	t.Cleanup(hub.Close)
	s.reached(t, true)
	return s
}

// lockedBuffer is text that several may write. The zero value is empty.
type lockedBuffer struct {
	mu   sync.Mutex
	text []byte
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	return len(p), nil
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}

// logTo logs where -v shows it.
func logTo(t testing.TB) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }

// port returns the endpoint of a worker, which reaches the broker.
func (s *site) port(t testing.TB, worker string) *amqp.WorkerEndpoint {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.ports[worker]
	if p == nil {
		var err error
		if p, err = amqp.NewWorkerEndpoint(worker, s.of(t, worker)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		s.ports[worker] = p
		waitFor(t, "the port is reached", func() bool { return !p.Status().Unreachable })
		amqp.DeclareWorkerQueues(s.hub, worker)
	}
	return p
}

// of is the options of a worker, which has a user of its own.
func (s *site) of(t testing.TB, worker string) amqp.Options {
	t.Helper()
	o := s.options
	o.Credentials = s.broker.Worker(t, s.vhost, worker)
	return o
}

// reached waits until everybody has noticed that the broker is there, or is not.
func (s *site) reached(t testing.TB, there bool) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	ends := []interface {
		Status() queue.Status
		Severed() bool
	}{s.hub}
	for _, p := range s.ports {
		ends = append(ends, p)
	}
	for _, e := range ends {
		waitFor(t, map[bool]string{true: "the broker is reached",
			false: "the broker is away"}[there], func() bool {
			return there && !e.Status().Unreachable || !there && e.Severed()
		})
	}
}

func (s *site) outage(t testing.TB, on bool) {
	t.Helper()
	if on {
		s.proxy.Cut()
	} else {
		s.proxy.Heal()
	}
	s.reached(t, !on)
}

// waitFor waits until something is so.
func waitFor(t testing.TB, what string, so func() bool) {
	t.Helper()
	pace := time.NewTicker(2 * time.Millisecond)
	defer pace.Stop()
	for deadline := time.Now().Add(patience); !so(); <-pace.C {
		if time.Now().After(deadline) {
			t.Fatalf("%v went by, and not: %s", patience, what)
		}
	}
}

func (s *site) fixture(t *testing.T) queuetest.Fixture {
	return queuetest.Fixture{
		Master: s.hub,
		Worker: func(worker string) queue.WorkerEndpoint { return s.port(t, worker) },
		Outage: func(on bool) { s.outage(t, on) },
		Purge:  func(worker string) { s.broker.Purge(t, s.vhost, "tasks."+worker) },
	}
}

func TestContract(t *testing.T) {
	shared.Get(t)
	queuetest.Run(t, func(t *testing.T) queuetest.Fixture {
		s := open(t)
		f := s.fixture(t)
		crash := true
		f.Restart = func() { // by turns as a crash and as a person does it
			if crash {
				s.broker.Settle(t)
				s.broker.Kill(t)
			} else {
				s.broker.Down(t)
			}
			crash = !crash
			s.broker.Up(t)
			s.reached(t, true)
		}
		return f
	})
}
