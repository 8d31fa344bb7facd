package amqp_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/queue/amqp"
	"mlframework/sweep/queue/queuetest/broker"
)

func TestWrongOptionsAreErrorsAtOnce(t *testing.T) {
	t.Parallel()
	good := amqp.Options{URL: "amqps://gpu1:5671/", Credentials: "file"}
	for name, c := range map[string]struct {
		change func(*amqp.Options)
		want   string
	}{
		"no address": {func(o *amqp.Options) { o.URL = "" }, "write amqps://HOST"},
		"another protocol": {func(o *amqp.Options) { o.URL = "http://gpu1" },
			"write amqps://HOST"},
		"no host": {func(o *amqp.Options) { o.URL = "amqp:///x" },
			"write amqps://HOST"},
		"user in the address": {func(o *amqp.Options) { o.URL = "amqp://me:secret@gpu1" },
			"has a user in it"},
		"not an address": {func(o *amqp.Options) { o.URL = "amqp://me:secret@gpu1:x" },
			"is not a URL"},
		"options in the query": {func(o *amqp.Options) { o.URL = "amqp://gpu1?heartbeat=0" },
			"write amqps://HOST"},
		"metrics by TLS": {func(o *amqp.Options) { o.Metrics = "https://gpu1:15692" },
			"write http://HOST"},
		"metrics of a page": {func(o *amqp.Options) { o.Metrics = "http://gpu1:15692/metrics" },
			"write http://HOST"},
		"user in the metrics": {func(o *amqp.Options) { o.Metrics = "http://me:secret@gpu1:15692" },
			"write http://HOST"},
		"a password in the clear": {func(o *amqp.Options) { o.URL = "amqp://198.51.100.1" },
			"in the clear: write amqps://HOST"},
		"no credentials": {func(o *amqp.Options) { o.Credentials = "" }, "USER:PASSWORD"},
	} {
		o := good
		c.change(&o)
		_, hub := amqp.NewMasterEndpoint(o)
		_, port := amqp.NewWorkerEndpoint("w1", o)
		for what, err := range map[string]error{"hub": hub, "port": port,
			"check": amqp.Check(t.Context(), o)} {
			if err == nil || !strings.Contains(err.Error(), c.want) ||
				strings.Contains(err.Error(), "secret") {
				t.Errorf("%s, %s: the error is %v; want it to say %q, and no secret", name, what,
					err, c.want)
			}
		}
	}
}

func TestWorkerNames(t *testing.T) {
	t.Parallel()
	for name, good := range map[string]bool{
		"w1": true, "gpu-1.lab_2@x": true, strings.Repeat("a", 127): true,
		"": false, "-a": false, ".": false, "a b": false, "a/b": false, "a*": false, "ü": false,
		"a\n": false, strings.Repeat("a", 128): false,
	} {
		p, err := amqp.NewWorkerEndpoint(name,
			amqp.Options{URL: "amqp://127.0.0.1:1", Credentials: "none"})
		if err == nil {
			p.Close()
		}
		if (err == nil) != good {
			t.Errorf("%q: the error is %v", name, err)
		}
	}
}

// faults are what can be wrong, each with its kind and what a person reads.
func TestCheckTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	b := shared.Get(t)
	write := func(name, text string) string {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	good := amqp.Options{URL: b.TLS, Credentials: b.Credentials, CA: b.CA}
	if err := amqp.Check(t.Context(), good); err != nil {
		t.Fatalf("a broker that is there: %v", err)
	}
	other := authority(t)
	silent := listen(t)
	for name, c := range map[string]struct {
		change func(*amqp.Options)
		kind   amqp.FaultKind
		want   string
	}{
		"wrong password": {func(o *amqp.Options) {
			o.Credentials = write("c",
				"mlframework:wrong")
		}, amqp.BadLogin, "correct the file with the credentials"},
		"unknown user": {func(o *amqp.Options) {
			o.Credentials = write("c",
				"nobody:wrong")
		}, amqp.BadLogin, "correct the file with the credentials"},
		"no credentials": {func(o *amqp.Options) { o.Credentials = "/none/c" }, amqp.NoFile,
			"there is no file with the credentials: /none/c"},
		"credentials of what?": {func(o *amqp.Options) { o.Credentials = write("c", "secret\n") },
			amqp.NoFile, "not one line USER:PASSWORD"},
		"no CA file": {func(o *amqp.Options) { o.CA = "/none/ca" }, amqp.NoFile,
			"there is no CA file: /none/ca"},
		"CA file of what?": {func(o *amqp.Options) { o.CA = write("ca", "secret") },
			amqp.NoFile, "no certificate in PEM form"},
		"the system's CAs": {func(o *amqp.Options) { o.CA = "" }, amqp.Certificate,
			"its certificate is not trusted"},
		"wrong CA": {func(o *amqp.Options) { o.CA = write("ca", other) },
			amqp.Certificate, "its certificate is not trusted"},
		"wrong name": {func(o *amqp.Options) {
			o.URL = strings.Replace(o.URL, "localhost",
				"127.0.0.2", 1)
		}, "", ""},
		"no such vhost": {func(o *amqp.Options) { o.URL = broker.In(o.URL, "none") },
			amqp.NoVhost, "the vhost none does not exist"},
		"nothing listens": {func(o *amqp.Options) { o.URL = "amqps://127.0.0.1:1" },
			amqp.Refused, "start the broker, or correct the address"},
		"no such host": {func(o *amqp.Options) { o.URL = "amqps://nowhere.invalid" },
			amqp.UnknownHost, "the host nowhere.invalid is not found"},
		"TLS to a plain port": {func(o *amqp.Options) { o.URL = "amqps://" + host(b.URL) },
			amqp.PlainPort, "does not speak TLS"},
		"plain to a TLS port": {func(o *amqp.Options) { o.URL = "amqp://" + host(b.TLS) },
			amqp.TLSPort, "write amqps://"},
		"silence": {func(o *amqp.Options) { o.URL = "amqp://" + silent },
			amqp.TimedOut, "no answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := good
			c.change(&o)
			err := amqp.Check(t.Context(), o)
			var f *amqp.Fault
			if c.kind == "" { // what the system makes of it differs; it must fail
				if err == nil {
					t.Error("there is no error")
				}
				return
			}
			if !errors.As(err, &f) || f.Kind != c.kind || !strings.Contains(err.Error(), c.want) ||
				strings.Contains(err.Error(), "secret") {
				t.Errorf("the error is %v; want kind %s and %q", err, c.kind, c.want)
			}
		})
	}
}

// authority is the certificate of one that signed nothing.
func authority(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, &c, &c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func host(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	return strings.TrimSuffix(rest, "/")
}

// listen takes connections and says nothing.
func listen(t *testing.T) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

func TestCheckEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	err := amqp.Check(ctx, amqp.Options{URL: "amqp://" + listen(t),
		Credentials: shared.Get(t).Credentials})
	if err == nil {
		t.Error("there is no error")
	}
}

// TestCredentialsAndTrustAreReadAgain begins with files that are missing, and mends them one by
// one.
func TestCredentialsAndTrustAreReadAgain(t *testing.T) {
	t.Parallel()
	b := shared.Get(t)
	o := amqp.Options{URL: broker.In(b.TLS, shared.Vhost(t)),
		Credentials: filepath.Join(t.TempDir(), "c"), CA: filepath.Join(t.TempDir(), "ca")}
	var told record
	o.Log = slog.New(slog.NewTextHandler(&told, nil))
	hub, err := amqp.NewMasterEndpoint(o)
	if err != nil {
		t.Fatal(err)
	}
	defer hub.Close()
	if err := hub.RemoveWorker(t.Context(), "w1"); !errors.Is(err, queue.ErrUnreachable) {
		t.Errorf("before the broker was reached the error is %v; want ErrUnreachable", err)
	}
	status := func(part string) {
		t.Helper()
		waitFor(t, "the status tells: "+part,
			func() bool { return strings.Contains(hub.Status().Reason, part) })
	}
	give := func(to, from string) {
		t.Helper()
		data, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	status("there is no file with the credentials")
	give(o.Credentials, b.Credentials)
	status("there is no CA file")
	give(o.CA, b.CA)
	waitFor(t, "the broker is reached", func() bool { return !hub.Status().Unreachable })
	if s := hub.Status(); !strings.HasPrefix(s.Program, "RabbitMQ ") || s.Reason != "" {
		t.Errorf("the status is %+v", s)
	}
	for what, want := range map[string]int{"there is no file with": 1, "there is no CA file": 1,
		"the broker is reached": 1} {
		if n := strings.Count(told.String(), what); n != want {
			t.Errorf("%q is logged %d times; want %d:\n%s", what, n, want, &told)
		}
	}
}

// record keeps a log.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(b)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}
