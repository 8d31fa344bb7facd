package broker_test

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	"mlframework/infra/broker"
)

// believes reports whether a client with these secrets believes a broker with those.
func believes(t *testing.T, with, of broker.Secrets) bool {
	t.Helper()
	pair, err := tls.X509KeyPair(of.Server.Certificate, of.Server.Key)
	if err != nil {
		t.Fatal(err)
	}
	trust := x509.NewCertPool()
	trust.AppendCertsFromPEM(file(t, client(t, with, broker.Master), "ca.pem"))
	_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: trust, DNSName: broker.ServerName,
		CurrentTime: pair.Leaf.NotBefore})
	return err == nil
}

func TestRotated(t *testing.T) {
	t.Parallel()
	before := secrets(t)
	rotated := func(s broker.Secrets) broker.Secrets {
		t.Helper()
		s, err := s.Rotated(rand.Reader, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	once := rotated(before)
	twice := rotated(once) // the first was cut off
	for user, password := range before.Passwords {
		now := twice.Passwords[user]
		if now == "" || now == password || now == once.Passwords[user] {
			t.Errorf("the password of %s is %q, and was %q", user, now, password)
		}
	}
	users := len(twice.Passwords)
	if users != len(before.Passwords) || twice.Cookie != before.Cookie || !twice.Pending {
		t.Errorf("%d users of %d, pending: %v", users, len(before.Passwords), twice.Pending)
	}
	last := twice.Finished()
	for _, c := range []struct {
		what     string
		with, of broker.Secrets
		want     bool
	}{
		{"meanwhile, the broker of before", twice, before, true},
		{"meanwhile, that of a rotation that was cut off", twice, once, true},
		{"meanwhile, the new one", twice, twice, true},
		{"who was not told, the new one", before, twice, false},
		{"at last, the new one", last, twice, true},
		{"at last, the broker of before", last, before, false},
		{"at last, that of a rotation that was cut off", last, once, false},
	} {
		if got := believes(t, c.with, c.of); got != c.want {
			t.Errorf("%s: believed is %v", c.what, got)
		}
	}
}

func TestRenewal(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := secrets(t)
	const day = 24 * time.Hour
	for _, c := range []struct {
		after             time.Duration
		server, authority bool
	}{
		{0, false, false}, {180 * day, false, false},
		{184 * day, true, false}, {500 * day, true, false},
		{9*365*day + day, true, true},
	} {
		server, authority, err := s.NeedsRenewal(now.Add(c.after))
		if err != nil || server != c.server || authority != c.authority {
			t.Errorf("after %v: to be renewed are %v, %v, %v", c.after, server, authority, err)
		}
	}
	next, err := s.Renewed(rand.Reader, now.Add(184*day))
	if err != nil {
		t.Fatal(err)
	}
	if !believes(t, s, next) {
		t.Error("who trusts the authority does not believe its next certificate")
	}
	until, err := broker.End(next.Server.Certificate)
	if left := until.Sub(now); err != nil || left < 548*day || left > 550*day {
		t.Errorf("it holds until %v, %v", until, err)
	}
	// No certificate outlives its authority.
	last, err := s.Renewed(rand.Reader, now.Add(3600*day))
	if err != nil {
		t.Fatal(err)
	}
	until, err = broker.End(last.Server.Certificate)
	authority, wrong := broker.End(s.Authority.Certificate)
	if err != nil || wrong != nil || !until.Equal(authority) {
		t.Errorf("it holds until %v, and its authority until %v: %v, %v", until, authority, err,
			wrong)
	}
	if _, err := broker.End([]byte("none")); err == nil {
		t.Error("what is no certificate has an end")
	}
}
