package main_test

import (
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"mlframework/cmd/internal/cli"
)

// listens waits until a monitor that was started with port 0 says where it listens, and gives that
// on this machine.
func (d *daemon) listens() string {
	d.t.Helper()
	var said []string
	eventually(d.t, patience, "it says where it listens", func() bool {
		said = regexp.MustCompile(`monitor started listen=\S+:(\d+) `).FindStringSubmatch(d.said())
		return said != nil
	})
	return "127.0.0.1:" + said[1]
}

// browser is logged in to a monitor.
type browser struct {
	t  *testing.T
	at string // host and port
	http.Client
}

func newBrowser(t *testing.T, at string) *browser {
	jar, _ := cookiejar.New(nil) // it never fails
	return &browser{t, at, http.Client{Jar: jar,
		Transport: &http.Transport{DisableKeepAlives: true}}}
}

// monitor starts a monitor of the cluster, and logs in.
func (c *cluster) monitor() *browser {
	c.t.Helper()
	state := c.path("monitor")
	d := newDaemon(c.t, c.dir, "monitor", "monitor", "--master", c.path("read"), "--state", state,
		"--listen", "127.0.0.1:0")
	d.start()
	b := newBrowser(c.t.(*testing.T), d.listens())
	if status, page := b.login(state); status != http.StatusOK {
		c.t.Fatalf("the login: %d %s", status, page)
	}
	return b
}

// login uses a link of the monitor with a state folder.
func (b *browser) login(state string, options ...string) (status int, page string) {
	b.t.Helper()
	code, link, stderr := call(b.t, append([]string{"monitor", "link", "--state", state, "--url",
		"http://" + b.at + "/"}, options...)...)
	if code != cli.OK || !strings.HasPrefix(link, "http://"+b.at+"/login?code=") {
		b.t.Fatalf("%d %s%s", code, link, stderr)
	}
	u, err := url.Parse(strings.TrimSpace(link))
	if err != nil {
		b.t.Fatal(err)
	}
	form := url.Values{"code": {u.Query().Get("code")}}
	r, err := http.NewRequest(http.MethodPost, "http://"+b.at+"/login",
		strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "http://"+b.at)
	return b.ask(r)
}

func (b *browser) ask(r *http.Request) (status int, page string) {
	answer, err := b.Do(r)
	if err != nil {
		return 0, ""
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body) // what is missing is missed by who asked
	return answer.StatusCode, string(text)
}

// get returns a page, whatever its status.
func (b *browser) get(path string) string {
	b.t.Helper()
	r, err := http.NewRequest(http.MethodGet, "http://"+b.at+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	_, page := b.ask(r)
	return page
}

// The monitor starts without a master, lets in who has a link, says that the master is away, and
// ends with SIGTERM.
func TestMonitor(t *testing.T) {
	t.Parallel()
	dependOnSources(t)
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	d := newDaemon(t, dir, "monitor", "monitor", "--master", filepath.Join(dir, "api.sock"),
		"--state", state, "--listen", "127.0.0.1:0")
	d.start()
	at := d.listens()
	b := newBrowser(t, at)
	eventually(t, patience, "it is up", func() bool { return b.get("/healthz") != "" })
	if status, page := b.login(state); status != http.StatusServiceUnavailable ||
		!strings.Contains(page, "there is no such file") {
		t.Errorf("%d %s", status, page)
	}
	d.signal(syscall.SIGTERM)
	if code := d.exitCode(); code != cli.OK {
		t.Errorf("it ended with %d", code)
	}
	token, err := os.ReadFile(filepath.Join(state, "token"))
	if err != nil || strings.Contains(d.said(), strings.TrimSpace(string(token))) {
		t.Errorf("the token is not to be seen: %v", err)
	}
}

func TestMonitorWithTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS() // for its certificate, which is for 127.0.0.1
	pair := server.TLS.Certificates[0]
	server.Close()
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certFile := write(t, filepath.Join(dir, "cert.pem"),
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})))
	keyFile := write(t, filepath.Join(dir, "key.pem"),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
	d := newDaemon(t, dir, "monitor", "monitor", "--master", "none", "--state",
		filepath.Join(dir, "state"), "--listen", "0.0.0.0:0", "--tls-cert", certFile, "--tls-key",
		keyFile)
	d.start()
	at := d.listens()
	roots := x509.NewCertPool()
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	roots.AddCert(leaf)
	token, err := os.ReadFile(filepath.Join(dir, "state", "token"))
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{"token": {strings.TrimSpace(string(token))}}.Encode()
	post, err := http.NewRequest(http.MethodPost, "https://"+at+"/login", strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	post.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	post.Header.Set("Origin", "https://"+at)
	transport := &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{RootCAs: roots}}
	answer, err := transport.RoundTrip(post)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if cookie := answer.Header.Get("Set-Cookie"); answer.StatusCode != http.StatusSeeOther ||
		!strings.Contains(cookie, "Secure") {
		t.Errorf("login over TLS: %s, cookie %q", answer.Status, cookie)
	}
}

// A certificate that is renewed is served from the next connection on, and until both files are
// there, the one of before.
func TestMonitorServesARenewedCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	put := func(file, text string) {
		t.Helper()
		part := write(t, file+".part", text)
		if err := os.Rename(part, file); err != nil {
			t.Fatal(err)
		}
	}
	cert, key := selfSigned(t, "first")
	put(certFile, cert)
	put(keyFile, key)
	d := newDaemon(t, dir, "monitor", "monitor", "--master", "none", "--state",
		filepath.Join(dir, "state"), "--listen", "0.0.0.0:0", "--tls-cert", certFile,
		"--tls-key", keyFile)
	d.start()
	at := d.listens()
	serves := func(want string) {
		t.Helper()
		conn, err := tls.Dial("tcp", at, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if got := conn.ConnectionState().PeerCertificates[0].Subject.CommonName; got != want {
			t.Errorf("it serves the %s certificate, not the %s", got, want)
		}
	}
	serves("first")
	cert, key = selfSigned(t, "second")
	put(certFile, cert)
	serves("first")
	put(keyFile, key)
	serves("second")
	if err := os.Remove(keyFile); err != nil {
		t.Fatal(err)
	}
	serves("second")
}

// selfSigned makes a certificate with a name, and its key.
func selfSigned(t *testing.T, name string) (cert, key string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(nil, c, c, public, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}

func TestMonitorRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	usual := []string{"monitor", "--master", "api.sock", "--state", filepath.Join(dir, "state")}
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"nothing named": {[]string{"monitor"}, cli.Usage,
			"missing: --state, --master"},
		"all addresses without TLS": {append(usual[:5:5], "--listen", "0.0.0.0:5555"), cli.Usage,
			"may be reached from other machines, and there is no TLS"},
		"every address without TLS": {append(usual[:5:5], "--listen", ":5555"), cli.Usage,
			"may be reached from other machines"},
		"a name without TLS": {append(usual[:5:5], "--listen", "gpu1:5555"), cli.Usage,
			"may be reached from other machines"},
		"no address": {append(usual[:5:5], "--listen", "5555"), cli.Usage,
			"is not an address"},
		"half of TLS": {append(usual[:5:5], "--tls-cert", "x"), cli.Usage,
			"belong together"},
		"TLS that is not there": {append(usual[:5:5], "--tls-cert", "x", "--tls-key", "y"),
			cli.Machine, "x"},
		"a wrong prefix": {append(usual[:5:5], "--prefix", "lab"), cli.Machine,
			"invalid prefix"},
		"something else": {[]string{"monitor", "banana"}, cli.Usage,
			`unknown command "banana" for "sweepd monitor"`},
		"a link of no monitor": {[]string{"monitor", "link", "--state", dir}, cli.Machine,
			"is not the state folder of a monitor"},
		"a link without a folder": {[]string{"monitor", "link"}, cli.Usage, "missing: --state"},
		"a link with an option more": {[]string{"monitor", "link", "--state", dir, "--listen",
			"x:1"}, cli.Usage, "--listen is not an option of sweepd monitor link\n  it is an " +
			"option of `sweepd monitor`"},
		"a wrong cluster": {append(usual[:5:5], "--cluster", "a;b"), cli.Machine,
			"invalid cluster name"},
		"an option of link": {append(usual[:5:5], "--viewer"), cli.Usage, "--viewer is " +
			"not an option of sweepd monitor\n  it is an option of `sweepd monitor link`"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := call(t, c.args...)
			if code != c.code || !strings.Contains(stderr, c.says) || stdout != "" {
				t.Errorf("%d %q %q; want %d %q", code, stdout, stderr, c.code, c.says)
			}
		})
	}
}
