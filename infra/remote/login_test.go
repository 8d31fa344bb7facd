package remote_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"mlframework/infra/remote"
)

// startAgent serves an agent with some useless keys, then those given.
func startAgent(t *testing.T, useless int, keys ...ed25519.PrivateKey) string {
	t.Helper()
	ring := agent.NewKeyring()
	for range useless {
		keys = append([]ed25519.PrivateKey{newKey(t)}, keys...)
	}
	for _, key := range keys {
		if err := ring.Add(agent.AddedKey{PrivateKey: key, Comment: "of the agent"}); err != nil {
			t.Fatal(err)
		}
	}
	socket := filepath.Join(t.TempDir(), "agent")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_ = agent.ServeAgent(ring, c)
			}()
		}
	}()
	return socket
}

func newKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestKeysAreOfferedInAnOrderThatMatters(t *testing.T) {
	t.Parallel()
	s := startSSHD(t)
	h, mine, foreign := newHome(t), newKey(t), newKey(t)
	s.admit(t, h.key(t, "named", ""), public(t, mine))
	write(t, h.path("half"), string(ssh.MarshalAuthorizedKey(public(t, mine))))
	write(t, h.path("half.pub"), string(ssh.MarshalAuthorizedKey(public(t, mine))))
	write(t, h.path("only"), "Host *\nIdentitiesOnly yes\nIdentityFile "+h.path("half")+
		"\nIdentityAgent "+startAgent(t, 20, mine)+"\n")
	to := remote.Target{Name: s.name()}
	for _, c := range []struct {
		name   string
		change func(*remote.Options)
		kind   remote.Kind // "": connected
		texts  []string
	}{
		{"a named key before those of a full agent", func(o *remote.Options) {
			o.Agent, o.Identity = startAgent(t, 20), h.path(".ssh/named")
		}, "", nil},
		{"a named key below ~", func(o *remote.Options) { o.Identity = "~/.ssh/named" }, "", nil},
		{"the agent's ninth key, on a second connection", func(o *remote.Options) {
			o.Agent = startAgent(t, 8, mine)
		}, "", nil},
		{"the public half names a key of the agent", func(o *remote.Options) {
			o.Agent, o.Identity = startAgent(t, 20, mine), h.path("half")
		}, "", nil},
		{"IdentitiesOnly, IdentityAgent", func(o *remote.Options) {
			o.Config = []string{h.path("only")}
		}, "", nil},
		{"too many keys", func(o *remote.Options) { o.Agent = startAgent(t, 20, mine) },
			remote.BadLogin, []string{"MaxAuthTries", "-i"}},
		{"none of the keys", func(o *remote.Options) { o.Agent = startAgent(t, 0, foreign) },
			remote.BadLogin,
			[]string{ssh.FingerprintSHA256(public(t, foreign)), "of the agent", "ssh-copy-id " +
				me(t) + "@127.0.0.1"}},
		{"no key at all", func(o *remote.Options) {}, remote.BadLogin, []string{"no key to offer",
			"ssh-keygen"}},
		{"a named key that is not there", func(o *remote.Options) { o.Identity = h.path("nope") },
			remote.BadKey, []string{h.path("nope")}},
		{"a named key that is none", func(o *remote.Options) { o.Identity = h.path("only") },
			remote.BadKey, []string{h.path("only")}},
		{"a public key that no agent has the other half of",
			func(o *remote.Options) { o.Identity = h.path("half.pub") }, remote.BadKey,
			[]string{h.path("half.pub") + ": it is a public key",
				"name the private key: -i " + h.path("half")}},
		{"no agent where one should be", func(o *remote.Options) {
			o.Agent, o.Identity = h.path("gone"), h.path(".ssh/named")
		}, "", nil},
		{"another user", func(o *remote.Options) {
			o.User, o.Identity = "nobody-here", h.path(".ssh/named")
		}, remote.BadLogin, []string{"nobody-here"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := h.options()
			if c.change(&o); c.kind == "" {
				connect(t, o, to)
			} else {
				refused(t, o, to, c.kind, c.texts...)
			}
		})
	}
	if w := strings.Join(h.warn.all(), "\n"); !strings.Contains(w, h.path("gone")) {
		t.Errorf("no word of the agent that is not there: %s", w)
	}
}

func TestAPassphraseIsAskedForOnce(t *testing.T) {
	t.Parallel()
	a, b, h := startSSHD(t), startSSHD(t), newHome(t)
	key := h.key(t, "id_ed25519", "open sesame")
	a.admit(t, key)
	b.admit(t, key)
	to := []remote.Target{{Name: a.name()}, {Name: b.name()}}
	var asked atomic.Int32
	answers := func(words ...string) func(context.Context, string) (string, error) {
		asked.Store(0)
		return func(_ context.Context, prompt string) (string, error) {
			if !strings.Contains(prompt, h.path(".ssh/id_ed25519")) {
				t.Errorf("asked %q", prompt)
			}
			if n := int(asked.Add(1)); n <= len(words) {
				return words[n-1], nil
			}
			return "", errors.New("nobody there")
		}
	}
	all := func(o remote.Options) error {
		hosts, err := remote.New(o).ConnectAll(t.Context(), to)
		for _, h := range hosts {
			if h != nil {
				h.Close()
			}
		}
		return err
	}
	o := h.options()
	o.Ask = answers("wrong", "open sesame")
	if err := all(o); err != nil || asked.Load() != 2 {
		t.Errorf("asked %d times, %v", asked.Load(), err)
	}
	o.Ask = answers("wrong", "wrong", "wrong", "open sesame")
	if faulty(t, all(o), remote.Passphrase, "three times"); asked.Load() != 3 {
		t.Errorf("asked %d times", asked.Load())
	}
	o.Ask = answers()
	if faulty(t, all(o), remote.Passphrase, "nobody there"); asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
	o.Ask = nil
	faulty(t, all(o), remote.Passphrase, h.path(".ssh/id_ed25519"), "no terminal", "ssh-add")

	h.key(t, "id_ed25519", "") // a key that is let in beside one that is locked
	s := startSSHD(t)
	locked, open := h.key(t, "locked", "secret"), h.key(t, "id_ecdsa", "")
	s.admit(t, locked, open)
	write(t, h.path(".ssh/config"), "IdentityFile ~/.ssh/locked\nIdentityFile ~/.ssh/id_ecdsa\n")
	connect(t, o, remote.Target{Name: s.name()})
}

func TestAUserCertificateIsOffered(t *testing.T) {
	t.Parallel()
	s, h, authority := startSSHD(t), newHome(t), newKey(t)
	signer, err := ssh.NewSignerFromKey(authority)
	if err != nil {
		t.Fatal(err)
	}
	cert := &ssh.Certificate{Key: h.key(t, "id_ed25519", ""), CertType: ssh.UserCert,
		ValidPrincipals: []string{me(t)}, ValidBefore: ssh.CertTimeInfinity}
	if err := cert.SignCert(rand.Reader, signer); err != nil {
		t.Fatal(err)
	}
	write(t, h.path(".ssh/id_ed25519-cert.pub"), string(ssh.MarshalAuthorizedKey(cert)))
	appendTo(t, s.authorized(), "cert-authority "+
		string(ssh.MarshalAuthorizedKey(signer.PublicKey())))
	connect(t, h.options(), remote.Target{Name: s.name()})
}

func TestHostsThatTakeNoKeys(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	key := h.key(t, "id_ed25519", "")
	s := startSSHD(t, "PubkeyAuthentication no", "PasswordAuthentication yes")
	refused(t, h.options(), remote.Target{Name: s.name()}, remote.BadLogin, "only by password",
		"PubkeyAuthentication yes")
	s = startSSHD(t, "AuthenticationMethods publickey,password", "PasswordAuthentication yes")
	s.admit(t, key)
	refused(t, h.options(), remote.Target{Name: s.name()}, remote.BadLogin, "takes the key",
		"password besides")
	if _, err := os.Stat(h.known()); err != nil {
		t.Errorf("the host's key was not noted: %v", err)
	}
}
