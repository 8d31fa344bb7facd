package remote_test

import (
	"bufio"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"mlframework/infra/remote"
)

// patience bounds whatever a test waits for.
const patience = 30 * time.Second

// sshd is a real one, on a loopback port, with its own keys, which lets in who runs the test.
type sshd struct {
	dir  string
	port int

	mu  sync.Mutex
	log strings.Builder
}

// startSSHD starts OpenSSH's server with lines added to its configuration. Where it is missing the
// test is skipped.
func startSSHD(t *testing.T, lines ...string) *sshd {
	t.Helper()
	program := "/usr/sbin/sshd"
	if _, err := os.Stat(program); err != nil {
		const missing = "this needs OpenSSH's sshd (Debian: apt-get install openssh-server)"
		if os.Getenv("CI") == "true" {
			t.Fatal(missing)
		}
		t.Skip("NOT TESTED: " + missing)
	}
	if os.Getuid() == 0 {
		// sshd wants it, and makes it only as a service
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := &sshd{dir: t.TempDir()}
	s.makeKeys(t)
	for !s.start(t, program, lines) {
		t.Logf("somebody was faster to take port %d", s.port)
		s.log.Reset()
	}
	return s
}

// start starts it on a free port. It gives false when the port was not free any more.
func (s *sshd) start(t *testing.T, program string, lines []string) bool {
	t.Helper()
	s.port = freePort(t)
	config := slices.Concat(lines, []string{ // the first value of a keyword counts
		fmt.Sprintf("Port %d", s.port), "ListenAddress 127.0.0.1", "PidFile none", "UsePAM no",
		"StrictModes no",
		"PermitRootLogin yes", "PasswordAuthentication no", "KbdInteractiveAuthentication no",
		"LogLevel VERBOSE",
		"AuthorizedKeysFile " + s.authorized(),
		"HostKey " + s.hostKey("ecdsa"), "HostKey " + s.hostKey("ed25519")})
	write(t, filepath.Join(s.dir, "config"), strings.Join(config, "\n")+"\n")
	cmd := exec.Command(program, "-D", "-e", "-f", filepath.Join(s.dir, "config"))
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	up, over := make(chan struct{}), make(chan struct{})
	go s.follow(bufio.NewScanner(stderr), up, over)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		<-over
		if t.Failed() {
			t.Logf("sshd on port %d said:\n%s", s.port, s.said())
		}
	})
	select {
	case <-up:
		return true
	case <-over:
		if strings.Contains(s.said(), "Address already in use") {
			return false
		}
		t.Fatalf("sshd ended:\n%s", s.said())
	case <-time.After(patience):
		t.Fatalf("sshd does not listen:\n%s", s.said())
	}
	return false
}

func (s *sshd) follow(lines *bufio.Scanner, up, over chan struct{}) {
	defer close(over)
	for lines.Scan() {
		s.mu.Lock()
		s.log.WriteString(lines.Text() + "\n")
		s.mu.Unlock()
		if strings.HasPrefix(lines.Text(), "Server listening on") {
			close(up)
		}
	}
}

func (s *sshd) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

func (s *sshd) hostKey(kind string) string { return filepath.Join(s.dir, "host_"+kind) }
func (s *sshd) authorized() string         { return filepath.Join(s.dir, "authorized_keys") }
func (s *sshd) name() string               { return "127.0.0.1:" + strconv.Itoa(s.port) }
func (s *sshd) known() string              { return fmt.Sprintf("[127.0.0.1]:%d", s.port) }

// admit lets a key in.
func (s *sshd) admit(t *testing.T, keys ...ssh.PublicKey) {
	t.Helper()
	for _, key := range keys {
		appendTo(t, s.authorized(), string(ssh.MarshalAuthorizedKey(key)))
	}
}

// public is a host key as in known_hosts.
func (s *sshd) public(t *testing.T, kind string) string {
	t.Helper()
	return strings.TrimSpace(read(t, s.hostKey(kind)+".pub"))
}

// makeKeys makes a host key of two kinds.
func (s *sshd) makeKeys(t *testing.T) {
	t.Helper()
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for kind, private := range map[string]crypto.Signer{"ecdsa": curve, "ed25519": edwards} {
		write(t, s.hostKey(kind), encode(t, private, ""))
		write(t, s.hostKey(kind)+".pub", string(ssh.MarshalAuthorizedKey(public(t, private))))
	}
}

// encode writes a private key as ssh-keygen does.
func encode(t *testing.T, private crypto.Signer, passphrase string) string {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(private, "")
	if passphrase != "" {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte(passphrase))
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(block))
}

func public(t *testing.T, private crypto.Signer) ssh.PublicKey {
	t.Helper()
	key, err := ssh.NewPublicKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// home is a person's home folder.
type home struct {
	dir  string
	warn *warnings
}

func newHome(t *testing.T) *home {
	t.Helper()
	h := &home{dir: t.TempDir(), warn: &warnings{}}
	if err := os.Mkdir(h.path(".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *home) path(name string) string { return filepath.Join(h.dir, name) }
func (h *home) known() string           { return h.path(".ssh/known_hosts") }

// key makes a key file in .ssh; "" is no passphrase.
func (h *home) key(t *testing.T, name, passphrase string) ssh.PublicKey {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	write(t, h.path(".ssh/"+name), encode(t, private, passphrase))
	return public(t, private)
}

// options see nothing of the machine but this home.
func (h *home) options() remote.Options {
	return remote.Options{Home: h.dir, Agent: "none", Config: []string{h.path(".ssh/config")},
		Warn:   h.warn.add,
		Logger: slog.New(slog.DiscardHandler)}
}

type warnings struct {
	mu    sync.Mutex
	texts []string
}

func (w *warnings) add(host, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, host+": "+text)
}

func (w *warnings) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.texts
}

// connected is a connection to a fresh sshd, by a default key, closed at the end of the test.
func connected(t *testing.T, lines ...string) (remote.Host, *sshd, *home) {
	t.Helper()
	s, h := startSSHD(t, lines...), newHome(t)
	s.admit(t, h.key(t, "id_ed25519", ""))
	return connect(t, h.options(), remote.Target{Name: s.name()}), s, h
}

func connect(t *testing.T, o remote.Options, to remote.Target) remote.Host {
	t.Helper()
	host, err := remote.New(o).Connect(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { host.Close() })
	return host
}

// refused connects and wants an error of a kind, with texts in it.
func refused(t *testing.T, o remote.Options, to remote.Target, kind remote.Kind,
	texts ...string) *remote.Error {
	t.Helper()
	host, err := remote.New(o).Connect(t.Context(), to)
	if err == nil {
		host.Close()
		t.Fatalf("connected, want an error of kind %s", kind)
	}
	return faulty(t, err, kind, texts...)
}

func me(t *testing.T) string {
	t.Helper()
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return u.Username
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func appendTo(t *testing.T, file, text string) {
	t.Helper()
	old, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	write(t, file, string(old)+text)
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
