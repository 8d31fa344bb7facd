// Package broker runs RabbitMQ for tests: real ones, started with scripts/broker, and all that can
// happen to them.
//
// Only tests may import it.
package broker

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mlframework/scripts"
)

// patience bounds whatever is asked of a broker. A boot takes 5 s on two idle cores.
const patience = 3 * time.Minute

// Options of a broker. The zero value is one with RabbitMQ's own settings and no TLS.
type Options struct {
	TLS bool
	Set []string // lines of rabbitmq.conf, KEY=VALUE
}

// Broker is a RabbitMQ that runs in a folder of its own. Its methods may be called concurrently,
// but for those that take it down.
type Broker struct {
	Dir string
	URL string // with an empty vhost, which is "/"
	TLS string // the same with TLS; "" without Options.TLS
	// a file: USER:PASSWORD, of a user who may do everything; see Master and Worker
	Credentials string
	CA          string // a file; "" without Options.TLS

	script string
	users  users
}

// Start starts a broker and takes it down at the end of the test.
//
// Where RabbitMQ is not installed it skips the test, or fails it where CI=true.
func Start(t testing.TB, o Options) *Broker {
	t.Helper()
	b, err := start(t.TempDir(), o)
	if err != nil {
		absent(t, err)
	}
	t.Cleanup(func() { b.Kill(t) })
	return b
}

// missing says that a broker cannot run here.
type missing struct{ what string }

func (m missing) Error() string { return m.what }

// absent ends a test that has no broker.
func absent(t testing.TB, err error) {
	t.Helper()
	m, ok := err.(missing)
	if !ok {
		t.Fatal(err)
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("a broker has to run in CI:\n%s", m)
	}
	t.Skipf("NOT TESTED: this needs a real broker.\n%s", m)
}

func start(dir string, o Options) (*Broker, error) {
	script, err := scripts.Path("broker")
	if err != nil {
		return nil, err
	}
	b := &Broker{Dir: dir, script: script, Credentials: filepath.Join(dir, "credentials")}
	if out, err := exec.Command(script, "check").CombinedOutput(); err != nil {
		return nil, missing{strings.TrimSpace(string(out))}
	}
	args := []string{"--while", strconv.Itoa(os.Getpid())}
	if o.TLS {
		args = append(args, "--tls")
		b.CA = filepath.Join(dir, "tls", "ca.pem")
	}
	for _, line := range o.Set {
		args = append(args, "--set", line)
	}
	if _, err := b.run("up", args...); err != nil {
		return nil, err
	}
	b.URL, err = first(filepath.Join(dir, "url"))
	if err == nil && o.TLS {
		b.TLS, err = first(filepath.Join(dir, "url.tls"))
	}
	return b, err
}

func first(file string) (string, error) {
	data, err := os.ReadFile(file)
	return strings.TrimSpace(string(data)), err
}

// run runs scripts/broker and gives what it printed.
func (b *Broker) run(action string, args ...string) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, b.script, append([]string{action, b.Dir}, args...)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second // what it started may have its output
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("scripts/broker %s: %w\n%s%s", action, err, &stdout, &stderr)
	}
	return stdout.String(), nil
}

func (b *Broker) must(t testing.TB, action string, args ...string) string {
	t.Helper()
	out, err := b.run(action, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Up starts it again after Down or Kill, at the same address.
func (b *Broker) Up(t testing.TB) {
	t.Helper()
	b.must(t, "up", "--while", strconv.Itoa(os.Getpid()))
}

// Down stops it as a person would.
func (b *Broker) Down(t testing.TB) { t.Helper(); b.must(t, "down") }

// Settle has it write its list of quorum queues, which RabbitMQ 3.10 otherwise does half a second
// after a change: a crash within that time loses a new queue with all that was confirmed in it.
func (b *Broker) Settle(t testing.TB) {
	t.Helper()
	b.Eval(t, `[ok = dets:sync(Table) || Table <- dets:all()]`)
}

// Kill ends it as a crash would. See Settle.
func (b *Broker) Kill(t testing.TB) { t.Helper(); b.must(t, "kill") }

// Reset crashes it and starts it with nothing: no queue, no message, no vhost but "/".
func (b *Broker) Reset(t testing.TB) {
	t.Helper()
	b.Kill(t)
	b.must(t, "wipe")
	b.Up(t)
	b.redefine(t)
}

// Freeze stops its process without ending it; the system goes on taking its connections. Thaw lets
// it go on, and the end of the test does so too.
func (b *Broker) Freeze(t testing.TB) {
	t.Helper()
	b.signal(t, syscall.SIGSTOP)
	t.Cleanup(sync.OnceFunc(func() { b.Thaw(t) }))
}

// Thaw ends a Freeze.
func (b *Broker) Thaw(t testing.TB) { t.Helper(); b.signal(t, syscall.SIGCONT) }

func (b *Broker) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	process, err := first(filepath.Join(b.Dir, "broker.process"))
	if err != nil {
		t.Fatal(err)
	}
	number, _, _ := strings.Cut(process, " ")
	pid, err := strconv.Atoi(number)
	if err == nil {
		err = syscall.Kill(pid, s)
	}
	if err != nil {
		t.Fatalf("send %v to the broker: %v", s, err)
	}
}
