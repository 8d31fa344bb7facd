package remote_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"mlframework/infra/remote"
)

func TestANewHostIsNotedOnce(t *testing.T) {
	t.Parallel()
	s, h := startSSHD(t), newHome(t)
	s.admit(t, h.key(t, "key", ""))
	o := h.options()
	o.Identity = h.path(".ssh/key")
	write(t, h.path(".ssh/config"), "Host box\nHostName 127.0.0.1\nUserKnownHostsFile "+
		"~/new/folder/known\n")
	o.HostKeys = remote.Yes
	to := remote.Target{Name: "box", Port: s.port}
	refused(t, o, to, remote.HostUnknown, "ssh-keygen -lf", "accept-new")
	o.HostKeys = ""
	var all sync.WaitGroup
	for range 4 {
		d := remote.New(o)
		all.Go(func() {
			host, err := d.Connect(t.Context(), to)
			if err != nil {
				t.Error(err)
				return
			}
			host.Close()
		})
	}
	all.Wait()
	file := h.path("new/folder/known")
	if text := read(t, file); text != s.known()+" "+s.public(t, "ecdsa")+"\n" && text != s.known()+
		" "+s.public(t, "ed25519")+"\n" {
		t.Errorf("noted %q", text)
	}
	for path, mode := range map[string]os.FileMode{file: 0o600,
		filepath.Dir(file): 0o700 | os.ModeDir} {
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	o.HostKeys = remote.Yes
	connect(t, o, to)

	write(t, h.path(".ssh/config"), "Host box\nHostName 127.0.0.1\nHostKeyAlias Named\n")
	o.HostKeys = ""
	connect(t, o, to)
	if text := read(t, h.known()); !strings.HasPrefix(text, "named ") {
		t.Errorf("noted %q", text)
	}
}

// What ssh's configuration says of host keys holds where no option says otherwise, unless it is
// less careful than what holds where nothing is said.
func TestHostKeysAsSSHIsConfigured(t *testing.T) {
	t.Parallel()
	s := startSSHD(t)
	other := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(public(t, newKey(t)))))
	for _, c := range []struct {
		configured       string
		option           remote.Policy
		unknown, changed remote.Kind // "": connected
	}{
		{"", "", "", remote.HostChanged},
		{"yes", "", remote.HostUnknown, remote.HostChanged},
		{"Ask", "", remote.HostUnknown, remote.HostChanged},
		{"accept-new", "", "", remote.HostChanged},
		{"no", "", "", remote.HostChanged},
		{"off", "", "", remote.HostChanged},
		{"yes", remote.AcceptNew, "", remote.HostChanged},
		{"yes", remote.No, "", ""},
		{"no", remote.Yes, remote.HostUnknown, remote.HostChanged},
	} {
		t.Run(c.configured+" "+string(c.option), func(t *testing.T) {
			h := newHome(t)
			s.admit(t, h.key(t, "id_ed25519", ""))
			t.Parallel()
			if c.configured != "" {
				write(t, h.path(".ssh/config"), "StrictHostKeyChecking "+c.configured+"\n")
			}
			o := h.options()
			o.HostKeys = c.option
			try := func(known string, kind remote.Kind) {
				t.Helper()
				write(t, h.known(), known)
				if to := (remote.Target{Name: s.name()}); kind == "" {
					connect(t, o, to)
				} else {
					refused(t, o, to, kind)
				}
			}
			try("", c.unknown)
			try(s.known()+" "+other+"\n", c.changed)
		})
	}
}

func TestHostKeysAreCheckedAgainstKnownHosts(t *testing.T) {
	t.Parallel()
	s, h := startSSHD(t), newHome(t)
	s.admit(t, h.key(t, "id_ed25519", ""))
	other := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(public(t, newKey(t)))))
	mine := s.public(t, "ed25519")
	hashed := knownhosts.HashHostname(s.known())
	for _, c := range []struct {
		name   string
		text   string
		policy remote.Policy
		kind   remote.Kind // "": connected
		texts  []string
		warned string
	}{
		{"one of two kinds", s.known() + " " + mine, remote.Yes, "", nil, ""},
		{"the other kind", s.known() + " " + s.public(t, "ecdsa"), remote.Yes, "", nil, ""},
		{"hashed", hashed + " " + mine, remote.Yes, "", nil, ""},
		{"a pattern without a port", "127.0.0.* " + mine, remote.Yes, "", nil, ""},
		{"among bad lines", "what is this\n" + s.known() + " ssh-ed25519 AAAA\n@odd x\n|1|x " +
			mine + "\n" + s.known() + " " + mine + "\n" +
			strings.Repeat("x", 100_000), remote.Yes, "", nil, "known_hosts:2 "},
		{"without a newline at its end", "else " + other, remote.AcceptNew, "", nil, ""},
		{"changed", "# note\n" + s.known() + " " + other, "", remote.HostChanged,
			[]string{"known_hosts:2", "ssh-keygen -R"}, ""},
		{"changed, hashed, below a bad line", "bad\n" + hashed + " " + other, "",
			remote.HostChanged, []string{h.known() + ":2"}, "known_hosts:1 "},
		{"changed, and nobody checks", s.known() + " " + other, remote.No, "", nil,
			"known_hosts:1"},
		{"revoked", "@revoked * " + mine + "\n@revoked * " + s.public(t, "ecdsa"), remote.No,
			remote.HostRevoked, []string{"known_hosts:"}, ""},
		{"an authority, and a host without a certificate", "@cert-authority * " + other,
			remote.AcceptNew, "", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(t, h.known(), c.text)
			o := h.options()
			o.HostKeys = c.policy
			w := &warnings{}
			o.Warn = w.add
			to := remote.Target{Name: s.name()}
			if c.kind == "" {
				connect(t, o, to)
			} else {
				refused(t, o, to, c.kind, c.texts...)
			}
			if all := strings.Join(w.all(), "\n"); !strings.Contains(all, c.warned) ||
				c.warned == "" && all != "" {
				t.Errorf("warned %q, want %q", all, c.warned)
			}
			if text := read(t, h.known()); c.policy == remote.AcceptNew && strings.Count(text,
				s.known()) != 1 || !strings.HasPrefix(text, c.text) {
				t.Errorf("now %q", text)
			}
		})
	}
}

func TestHostCertificates(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	key := h.key(t, "id_ed25519", "")
	authority, err := ssh.NewSignerFromKey(newKey(t))
	if err != nil {
		t.Fatal(err)
	}
	trusted := "@cert-authority * " + string(ssh.MarshalAuthorizedKey(authority.PublicKey()))
	for _, c := range []struct {
		name      string
		principal string
		known     func(s *sshd) string
		kind      remote.Kind
		texts     []string
	}{
		{"good", "127.0.0.1", func(*sshd) string { return trusted }, "", nil},
		{"for another name", "gpu7", func(*sshd) string { return trusted }, remote.BadCert,
			[]string{"127.0.0.1"}},
		{"by nobody known, of a known key", "127.0.0.1", func(s *sshd) string {
			return s.known() + " " + s.public(t, "ecdsa") + "\n"
		}, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			cert := filepath.Join(t.TempDir(), "cert")
			s := startSSHD(t, "HostCertificate "+cert)
			s.admit(t, key)
			pub, _, _, _, err := ssh.ParseAuthorizedKey([]byte(s.public(t, "ecdsa")))
			if err != nil {
				t.Fatal(err)
			}
			signed := &ssh.Certificate{Key: pub, CertType: ssh.HostCert,
				ValidPrincipals: []string{c.principal}, ValidBefore: ssh.CertTimeInfinity}
			if err := signed.SignCert(rand.Reader, authority); err != nil {
				t.Fatal(err)
			}
			write(t, cert, string(ssh.MarshalAuthorizedKey(signed)))
			write(t, h.known(), c.known(s))
			o := h.options()
			o.HostKeys = remote.Yes
			to := remote.Target{Name: s.name()}
			if c.kind == "" {
				connect(t, o, to)
			} else {
				refused(t, o, to, c.kind, c.texts...)
			}
		})
	}
}
