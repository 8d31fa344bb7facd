package remote

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"
	xknownhosts "golang.org/x/crypto/ssh/knownhosts"
)

// Policy is what to do with a host's key.
type Policy string

// The policies, named as ssh's StrictHostKeyChecking names them. A revoked key is refused by all.
const (
	Yes       Policy = "yes"        // only hosts that known_hosts has
	AcceptNew Policy = "accept-new" // a new host is added; one whose key changed is refused
	No        Policy = "no"         // a changed key is a warning only
)

// isCert tells algorithms of host certificates.
func isCert(algorithm string) bool { return strings.Contains(algorithm, "-cert-v01@") }

// algorithms are those to ask a host for: first those of its keys in known_hosts, for a host that
// has several keys must show the one that is known. Certificates are asked for only where an
// authority is known, for there is no falling back.
func (k *known) algorithms(addr string) (list []string) {
	var types []string
	certs := false
	for _, key := range k.db.HostKeys(addr) {
		if certs = certs || key.Cert; !key.Cert {
			types = append(types, key.Type())
		}
	}
	var others []string
	for _, a := range ssh.SupportedAlgorithms().HostKeys {
		format := a
		if a == ssh.KeyAlgoRSASHA256 || a == ssh.KeyAlgoRSASHA512 {
			format = ssh.KeyAlgoRSA
		}
		switch {
		case isCert(a) && !certs:
		case isCert(a) || slices.Contains(types, format):
			list = append(list, a)
		default:
			others = append(others, a)
		}
	}
	return append(list, others...)
}

// authority tells whether a certificate is by one that is known for a host.
func (k *known) authority(addr string, cert *ssh.Certificate) bool {
	return slices.ContainsFunc(k.db.HostKeys(addr), func(key knownhosts.PublicKey) bool {
		return key.Cert && bytes.Equal(key.Marshal(), cert.SignatureKey.Marshal())
	})
}

// check compares a host's key with what is known of it. It gives nil, a *mismatch, or why a
// certificate is no good.
func (k *known) check(addr string, remote net.Addr, key ssh.PublicKey) error {
	if cert, ok := key.(*ssh.Certificate); ok && !k.authority(addr, cert) {
		key = cert.Key // as ssh does: who signed it is nobody here
	}
	err := k.db.HostKeyCallback()(addr, remote, key)
	var revoked *xknownhosts.RevokedError
	var differs *xknownhosts.KeyError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &revoked):
		return &mismatch{kind: HostRevoked, at: k.where(revoked.Revoked)}
	case errors.As(err, &differs):
		for _, want := range differs.Want {
			if !k.isAuthority(addr, want.Key) {
				return &mismatch{kind: HostChanged, at: k.where(want)}
			}
		}
		return &mismatch{kind: HostUnknown}
	}
	return err
}

func (k *known) isAuthority(addr string, key ssh.PublicKey) bool {
	return slices.ContainsFunc(k.db.HostKeys(addr), func(have knownhosts.PublicKey) bool {
		return have.Cert && bytes.Equal(have.Marshal(), key.Marshal())
	})
}

// mismatch is a host key that is not what known_hosts has.
type mismatch struct {
	kind Kind
	at   string // FILE:LINE of what it has
}

func (m *mismatch) Error() string { return string(m.kind) + " " + m.at }

// trust decides about the keys of one connection, at its beginning and whenever keys are made anew.
type trust struct {
	d        *Dialer
	name     string // as listed
	op       string
	p        *resolvedTarget
	accepted []byte
	err      error // why the host was refused
}

func (t *trust) decide(addr string, remote net.Addr, key ssh.PublicKey) error {
	blob := key.Marshal()
	if t.accepted != nil && bytes.Equal(t.accepted, blob) {
		return nil
	}
	if t.err = t.judge(addr, remote, key); t.err == nil {
		t.accepted = blob
	}
	return t.err
}

func (t *trust) judge(addr string, remote net.Addr, key ssh.PublicKey) error {
	if err := t.checkRevoked(key); err != nil {
		return err
	}
	k, err := t.d.readKnown(t.p.known)
	if err != nil {
		return t.fault(HostUnknown, "known_hosts cannot be read: "+clip(plain(err)), "", err)
	}
	err = k.check(addr, remote, key)
	if cert, ok := key.(*ssh.Certificate); ok && !k.authority(addr, cert) {
		key = cert.Key
	}
	var m *mismatch
	switch shown := key.Type() + " key " + ssh.FingerprintSHA256(key); {
	case err == nil:
		return nil
	case !errors.As(err, &m):
		return t.fault(BadCert, "its host certificate is no good: "+clip(err.Error()),
			"have it signed anew for the name "+t.p.host, err)
	case m.kind == HostRevoked:
		return t.fault(HostRevoked, "its "+shown+" is revoked in "+m.at,
			"do not use this host until its owner has given it a new key", nil)
	case m.kind == HostChanged && t.p.policy == No:
		t.d.warn(t.name, "its host key is not the one in "+m.at+", and nobody checks (host-key "+
			"check: no)")
		return nil
	case m.kind == HostChanged:
		return t.fault(HostChanged, "its host key has changed: it shows "+shown+", another is in "+
			m.at,
			fmt.Sprintf("somebody may be in between; if the host was installed anew, remove that "+
				"line: ssh-keygen -R %s -f %s",
				Quote(knownhosts.Normalize(addr)), Quote(m.at[:strings.LastIndexByte(m.at, ':')])),
			nil)
	case t.p.policy == Yes:
		return t.fault(HostUnknown, "known_hosts does not have it; it shows "+shown,
			"compare that with `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` there, then "+
				"connect once with ssh, or with --host-key-check accept-new", nil)
	}
	return t.accept(addr, remote, key)
}

// accept adds a new host. When another process was faster, its entry counts.
func (t *trust) accept(addr string, remote net.Addr, key ssh.PublicKey) error {
	if len(t.p.known) == 0 {
		return nil
	}
	file := t.p.known[0]
	added, err := addKnown(file, addr, key, func() error {
		k, err := t.d.readKnown(t.p.known)
		if err != nil {
			return err
		}
		return k.check(addr, remote, key)
	})
	var m *mismatch
	switch {
	case errors.As(err, &m):
		return t.fault(HostChanged, "while connecting another key was noted in "+m.at, "try again",
			nil)
	case err != nil:
		t.d.warn(t.name, fmt.Sprintf("its key is not noted in %s: %s", file, plain(err)))
	case added:
		t.d.o.Logger.Info("host key noted", "host", t.name, "file", file, "key",
			ssh.FingerprintSHA256(key))
	}
	return nil
}

func (t *trust) fault(kind Kind, cause, remedy string, err error) error {
	return &Error{Host: t.name, Op: t.op, Kind: kind, Cause: cause, Remedy: remedy, Err: err}
}
