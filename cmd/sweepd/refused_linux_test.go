package main_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/queue/queuetest/broker"
)

// call runs the program to its end.
func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return callProgram(t, program, args...)
}

func callProgram(t *testing.T, program string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// write writes a file that only its owner may read.
func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// nowhere is an address at which nobody listens, and nobody else can meanwhile: a socket has it
// that does not.
func nowhere(t *testing.T) string {
	t.Helper()
	s, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(s) })
	if err := syscall.Bind(s, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	at, err := syscall.Getsockname(s)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("amqp://127.0.0.1:%d/", at.(*syscall.SockaddrInet4).Port)
}

// sweepd check says in one sentence what keeps the broker from being reached, with exit code 4.
func TestCheck(t *testing.T) {
	t.Parallel()
	b := shared.Get(t)
	dir := t.TempDir()
	wrong := write(t, filepath.Join(dir, "wrong"), "mlframework:guess\n")
	stranger := httptest.NewTLSServer(nil)
	t.Cleanup(stranger.Close)
	other := write(t, filepath.Join(dir, "other.pem"),
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
			Bytes: stranger.Certificate().Raw})))
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"all is well": {[]string{"--broker", b.URL, "--credentials", b.Credentials},
			cli.OK, ""},
		"all is well, with TLS": {[]string{"--broker", b.TLS, "--credentials", b.Credentials,
			"--ca", b.CA}, cli.OK, ""},
		"a wrong password": {[]string{"--broker", b.URL, "--credentials", wrong},
			cli.Unreachable, "does not accept user and password"},
		"a wrong authority": {[]string{"--broker", b.TLS, "--credentials", b.Credentials,
			"--ca", other}, cli.Unreachable, "its certificate is not trusted"},
		"the system's authorities": {[]string{"--broker", b.TLS, "--credentials", b.Credentials},
			cli.Unreachable, "its certificate is not trusted"},
		"nobody there": {[]string{"--broker", nowhere(t), "--credentials",
			b.Credentials}, cli.Unreachable, "the connection was refused"},
		"no such vhost": {[]string{"--broker", broker.In(b.URL, "none"), "--credentials",
			b.Credentials}, cli.Unreachable, "the vhost none does not exist"},
		"TLS to the wrong port": {[]string{"--broker", strings.Replace(b.URL, "amqp:", "amqps:",
			1), "--credentials", b.Credentials, "--ca", b.CA}, cli.Unreachable,
			"does not speak TLS"},
		"no TLS to the port of it": {[]string{"--broker", strings.Replace(b.TLS, "amqps:", "amqp:",
			1), "--credentials", b.Credentials}, cli.Unreachable, "speaks TLS"},
		"no file": {[]string{"--broker", b.URL, "--credentials",
			filepath.Join(dir, "none")}, cli.Unreachable, "there is no file with the credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := call(t, append([]string{"check"}, c.args...)...)
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if c.says == "" && (stdout != "the broker answers\n" || stderr != "") {
				t.Errorf("it says %q and %q", stdout, stderr)
			}
			if c.says != "" && (!strings.Contains(stderr, c.says) ||
				strings.Count(stderr, "\n") != 1 || stdout != "") {
				t.Errorf("it says %q and %q, want one line with %q", stdout, stderr, c.says)
			}
		})
	}
}

// Parts that do not get through say why, and go on trying: when the file with the password is put
// right they come in.
func TestPartsKeepTrying(t *testing.T) {
	t.Parallel()
	s := open(t)
	guess := func(name, user string) site {
		s := s
		s.wrong = write(t, filepath.Join(t.TempDir(), name), user+":guess\n")
		return s
	}
	asMaster, asWorker := guess("master", "master"), guess("w1", "worker-w1")
	c := newCluster(t, asMaster)
	w1 := newDaemon(t, c.dir, "w1", append([]string{"worker", "--name", "w1", "--slots", "2",
		"--outputs", c.path("w1"),
		"--revisions", c.path("revisions")}, asWorker.worker("w1")...)...)
	w1.start()
	for _, d := range []*daemon{c.master, w1} {
		eventually(t, patience, d.name+" says what is wrong", said(d,
			"does not accept user and password"))
	}
	// The master takes sweeps all the same.
	id := c.sweep("short", short, 4)
	if b, err := c.client.Broker(t.Context()); err != nil || !b.Unreachable || b.Reason == nil ||
		!strings.Contains(*b.Reason, "password") {
		t.Errorf("the broker is shown as %+v, %v", b, err)
	}
	for file, right := range map[string]string{asMaster.wrong: s.broker.Master(t, s.vhost),
		asWorker.wrong: s.broker.Worker(t, s.vhost, "w1")} {
		data, err := os.ReadFile(right)
		if err != nil {
			t.Fatal(err)
		}
		write(t, file, string(data))
	}
	c.ready("w1")
	c.ended(patience, id)
	c.succeeded(id)
	c.verify()
}

// A broker that is short of memory takes nothing: the master says so, a sweep waits, and runs when
// there is room again.
func TestBrokerFull(t *testing.T) {
	t.Parallel()
	b, s := ownBroker(t)
	c := newCluster(t, s)
	c.worker("w1", s)
	b.SetMemoryLimit(t, 0)
	id := c.sweep("short", short, 20)
	blocked := func() string {
		broker, err := c.client.Broker(t.Context())
		if err != nil || broker.Blocked == nil {
			return ""
		}
		return *broker.Blocked
	}
	eventually(t, patience, "the master shows that the broker is full", func() bool {
		return strings.Contains(blocked(), "memory")
	})
	for _, d := range []*daemon{c.master, c.workers["w1"]} {
		eventually(t, patience, d.name+" says so", said(d, "the broker takes no messages for now"))
	}
	b.SetMemoryLimit(t, 0.8)
	c.ended(patience, id)
	c.succeeded(id)
	c.verify()
	if why := blocked(); why != "" {
		t.Errorf("it is still shown as full: %s", why)
	}
}
