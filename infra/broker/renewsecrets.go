package broker

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// How long certificates hold.
const (
	// clockSkew is how far back a certificate holds when it is made, as the clocks of hosts differ.
	clockSkew       = 24 * time.Hour
	certificateLife = 365 * 24 * time.Hour
	authorityLife   = 10 * certificateLife
	// RenewBefore is how long before its end a server's certificate is renewed when infrainit is
	// called. In the second half of its life each call does.
	RenewBefore = certificateLife / 2
)

// End returns when a certificate, as PEM, is not valid any more.
func End(certificate []byte) (time.Time, error) {
	block, _ := pem.Decode(certificate)
	if block == nil {
		return time.Time{}, errors.New("it is not a certificate in PEM form")
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}, err
	}
	return c.NotAfter, nil
}

// NeedsRenewal reports which certificates are to be renewed: the broker's own, or its authority,
// which ends before another certificate of the broker would.
func (s Secrets) NeedsRenewal(now time.Time) (server, authority bool, err error) {
	end, err := End(s.Server.Certificate)
	if err != nil {
		return false, false, fmt.Errorf("the broker's certificate: %w", err)
	}
	last, err := End(s.Authority.Certificate)
	if err != nil {
		return false, false, fmt.Errorf("the broker's authority: %w", err)
	}
	server = end.Sub(now) < RenewBefore
	return server, server && last.Sub(now) < certificateLife, nil
}

// Renewed returns the secrets with a new certificate of the broker, from the same authority.
func (s Secrets) Renewed(random io.Reader, now time.Time) (Secrets, error) {
	authority, err := tls.X509KeyPair(s.Authority.Certificate, s.Authority.Key)
	if err == nil {
		until := now.Add(certificateLife)
		if last := authority.Leaf.NotAfter; last.Before(until) {
			until = last
		}
		s.Server, err = s.Authority.issue(random, []string{ServerName}, now.Add(-clockSkew), until)
	}
	if err != nil {
		return Secrets{}, fmt.Errorf("make the broker's certificate: %w", err)
	}
	return s, nil
}

// Rotated returns secrets of the same users in which every password, the authority and the
// broker's certificate are new. Clients trust both authorities until Finished.
func (s Secrets) Rotated(random io.Reader, now time.Time) (Secrets, error) {
	fresh, err := NewSecrets(random, now)
	if err == nil {
		fresh, err = fresh.WithUsers(random, s.Users())
	}
	if err != nil {
		return Secrets{}, err
	}
	fresh.Previous = slices.Concat(s.Authority.Certificate, s.Previous)
	fresh.Cookie, fresh.Pending = s.Cookie, true
	return fresh, nil
}

// Token is the file with a new token of the monitor, as it reads it when it starts.
func Token(random io.Reader) ([]File, error) {
	token := make([]byte, 24)
	if _, err := io.ReadFull(random, token); err != nil {
		return nil, fmt.Errorf("make the monitor's token: %w", err)
	}
	return []File{{"token", []byte(hex.EncodeToString(token) + "\n")}}, nil
}

// Finished returns the secrets without authorities of before.
func (s Secrets) Finished() Secrets {
	s.Previous = nil
	return s
}
