package broker_test

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"mlframework/infra/broker"
)

func secrets(t *testing.T) broker.Secrets {
	t.Helper()
	s, err := broker.NewSecrets(rand.Reader, time.Now())
	if err == nil {
		s, err = s.WithUsers(rand.Reader, []string{broker.Master, broker.WorkerUser("gpu1"),
			broker.WorkerUser("gpu2")})
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func file(t *testing.T, files []broker.File, name string) []byte {
	t.Helper()
	for _, f := range files {
		if f.Name == name {
			return f.Data
		}
	}
	t.Fatalf("there is no %s", name)
	return nil
}

func client(t *testing.T, s broker.Secrets, user string) []broker.File {
	t.Helper()
	files, err := s.Client(user)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Whoever trusts the authority believes a server with the certificate, under its name only, on
// clocks that differ by a day.
func TestTheCertificateIsBelieved(t *testing.T) {
	t.Parallel()
	s := secrets(t)
	files := s.Files()
	pair, err := tls.X509KeyPair(file(t, files, "server.pem"), file(t, files, "server.key"))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0",
		&tls.Config{Certificates: []tls.Certificate{pair}})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go greet(listener)
	trust := x509.NewCertPool()
	if !trust.AppendCertsFromPEM(file(t, client(t, s, broker.WorkerUser("gpu1")), "ca.pem")) {
		t.Fatal("no authority")
	}
	for _, c := range []struct {
		name string
		when time.Duration
		good bool
	}{
		{broker.ServerName, 0, true}, {broker.ServerName, -23 * time.Hour, true},
		{broker.ServerName, 364 * 24 * time.Hour, true},
		{broker.ServerName, 366 * 24 * time.Hour, false},
		{"gpu1", 0, false}, {broker.ServerName, -48 * time.Hour, false},
	} {
		dialer := tls.Dialer{Config: &tls.Config{RootCAs: trust, ServerName: c.name,
			Time: func() time.Time { return time.Now().Add(c.when) }}}
		conn, err := dialer.DialContext(t.Context(), "tcp", listener.Addr().String())
		if (err == nil) != c.good {
			t.Errorf("%s, %v: %v", c.name, c.when, err)
		}
		if err == nil {
			conn.Close()
		}
	}
}

// Who trusts the monitor's certificate trusts it for its names, and nothing that it would sign.
func TestTheMonitorsCertificateHasItsNames(t *testing.T) {
	t.Parallel()
	files, err := broker.Certificate(rand.Reader, time.Now(), []string{"gpu1", "192.0.2.7"})
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(file(t, files, broker.CertificateFile),
		file(t, files, broker.KeyFile))
	if err != nil {
		t.Fatal(err)
	}
	trust := x509.NewCertPool()
	trust.AddCert(pair.Leaf)
	for name, good := range map[string]bool{"gpu1": true, "192.0.2.7": true, "localhost": true,
		"127.0.0.1": true, "gpu2": false, broker.ServerName: false} {
		_, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: trust, DNSName: name})
		if (err == nil) != good {
			t.Errorf("%s: %v", name, err)
		}
	}
	if pair.Leaf.IsCA || len(files) != 2 {
		t.Errorf("it may sign others: %v, %d files", pair.Leaf.IsCA, len(files))
	}
}

// The authority's key is on the master's host: it is of no use against those who trust it.
func TestTheAuthoritySpeaksForTheClusterOnly(t *testing.T) {
	t.Parallel()
	s, other := secrets(t), secrets(t)
	authority, err := tls.X509KeyPair(s.Authority.Certificate, s.Authority.Key)
	if err != nil {
		t.Fatal(err)
	}
	trust := x509.NewCertPool()
	trust.AddCert(authority.Leaf)
	for name, good := range map[string]bool{broker.ServerName: true, "bank.example": false,
		"gpu1": false, "127.0.0.1": false, "::1": false} {
		c := &x509.Certificate{SerialNumber: big.NewInt(2), NotBefore: authority.Leaf.NotBefore,
			NotAfter: authority.Leaf.NotAfter, DNSNames: []string{name}}
		if ip := net.ParseIP(name); ip != nil {
			c.DNSNames, c.IPAddresses = nil, []net.IP{ip}
		}
		der, err := x509.CreateCertificate(rand.Reader, c, authority.Leaf,
			authority.Leaf.PublicKey, authority.PrivateKey)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := signed.Verify(x509.VerifyOptions{Roots: trust, DNSName: name}); (err == nil) != good {
			t.Errorf("%s: %v", name, err)
		}
	}
	another, err := tls.X509KeyPair(other.Authority.Certificate, other.Authority.Key)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := authority.Leaf, another.Leaf; a.SerialNumber.Cmp(b.SerialNumber) == 0 ||
		a.Subject.String() == b.Subject.String() {
		t.Errorf("two clusters are the same issuer: %s, %d", a.Subject, a.SerialNumber)
	}
}

// greet shakes hands with everybody.
func greet(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			_ = conn.(*tls.Conn).Handshake()
		}()
	}
}

func TestOnlyHashesOfPasswordsReachTheBroker(t *testing.T) {
	t.Parallel()
	s := secrets(t)
	var d struct {
		Users []struct {
			Name string `json:"name"`
			Hash string `json:"password_hash"`
		} `json:"users"`
		Permissions []struct{ User string } `json:"permissions"`
	}
	if err := json.Unmarshal(file(t, s.Files(), "definitions.json"), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Users) != 3 || len(d.Permissions) != 3 {
		t.Errorf("%+v", d)
	}
	seen := map[string]bool{}
	for _, u := range d.Users {
		line := strings.TrimSpace(string(file(t, client(t, s, u.Name), "credentials")))
		name, password, _ := strings.Cut(line, ":")
		raw, err := base64.StdEncoding.DecodeString(u.Hash)
		if err != nil || name != u.Name || len(password) < 32 || len(raw) != 4+sha256.Size {
			t.Fatalf("%s: %q, %v", u.Name, u.Hash, err)
		}
		if seen[password] {
			t.Errorf("%s has the password of another user", name)
		}
		seen[password] = true
		if want := sha256.Sum256(append(raw[:4:4], password...)); string(raw[4:]) != string(
			want[:]) {
			t.Errorf("%s: the hash is another password's", u.Name)
		}
		for _, f := range s.Files() {
			if strings.Contains(string(f.Data), password) {
				t.Errorf("%s has the password of %s", f.Name, u.Name)
			}
		}
	}
	if s.Passwords[broker.Master] == secrets(t).Passwords[broker.Master] {
		t.Error("two clusters have one password")
	}
}
