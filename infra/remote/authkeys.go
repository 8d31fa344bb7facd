package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// agentPatience bounds what an agent takes to list its keys, signPatience how long it may wait for
// a person until it signs: sshd hangs up after that time (LoginGraceTime).
const (
	agentPatience = 5 * time.Second
	signPatience  = 2 * time.Minute
)

// authKeys is the keys for one host, in the order in which they are offered: those that were named,
// default ones, the rest of the agent's. Named ones come first because sshd takes six tries
// (MaxAuthTries).
type authKeys struct {
	signers []*authKey
	close   func()
	locked  error // of a key that the host took
}

// authKey is a key that tells whether it was offered.
type authKey struct {
	name string
	pub  ssh.PublicKey
	sign func() (ssh.Signer, error)
	// stops the clock of the handshake while a person may be asked; the result starts it again
	hold  func() func()
	mu    sync.Mutex
	tried bool
	err   error // of a host that took it, and a signature that did not come
}

func (o *authKey) PublicKey() ssh.PublicKey {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tried = true // the library asks for it as it sends it
	return o.pub
}

func (o *authKey) Sign(rand io.Reader, data []byte) (*ssh.Signature, error) {
	return o.SignWithAlgorithm(rand, data, "")
}

func (o *authKey) SignWithAlgorithm(rand io.Reader, data []byte, algorithm string) (*ssh.Signature,
	error) {
	defer o.hold()()
	s, err := o.sign()
	if err == nil {
		if a, ok := s.(ssh.AlgorithmSigner); ok && algorithm != "" {
			var sig *ssh.Signature
			sig, err = a.SignWithAlgorithm(rand, data, algorithm)
			if err == nil {
				return sig, nil
			}
		} else {
			return s.Sign(rand, data)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = err
	return nil, err
}

// wasTried tells whether the key was offered, and what kept it from signing.
func (o *authKey) wasTried() (bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tried, o.err
}

// gather collects the keys for a host.
func (d *Dialer) gather(ctx context.Context, p *resolvedTarget, hold func() func()) (*authKeys,
	error) {
	held, hangUp := d.agentKeys(p)
	o := &authKeys{close: hangUp}
	files, err := d.keyFiles(p)
	if err != nil {
		hangUp()
		return nil, err
	}
	seen := map[string]bool{}
	add := func(name string, pub ssh.PublicKey, sign func() (ssh.Signer, error)) {
		if blob := string(pub.Marshal()); !seen[blob] {
			seen[blob] = true
			o.signers = append(o.signers, &authKey{name: name + " (" + ssh.FingerprintSHA256(pub) +
				")", pub: pub, sign: sign, hold: hold})
		}
	}
	for _, f := range files {
		sign := func() (ssh.Signer, error) { return d.keys.unlock(ctx, f) }
		if s := find(held, f.pub); s != nil {
			sign = func() (ssh.Signer, error) { return s, nil }
		} else if f.half && f.path == p.named {
			hangUp()
			return nil, &publicKey{f.path}
		} else if f.half {
			continue // no agent has the other half
		}
		if f.cert != nil && bytes.Equal(f.cert.Key.Marshal(), f.pub.Marshal()) {
			add(f.path+"-cert.pub", f.cert, sign)
		}
		add(f.path, f.pub, sign)
	}
	if p.only {
		return o, nil
	}
	for _, s := range held {
		add(agentName(s), s.PublicKey(), func() (ssh.Signer, error) { return s, nil })
	}
	return o, nil
}

// keyFiles reads the key files for a host. Only one that was named for this run must be there.
func (d *Dialer) keyFiles(p *resolvedTarget) (files []*keyFile, err error) {
	paths := p.keys
	if len(paths) == 0 {
		for _, name := range defaultKeys {
			paths = append(paths, filepath.Join(d.o.Home, name))
		}
	}
	for _, path := range paths {
		f, err := d.keys.read(path)
		if missing(err) && path != p.named { // an agent may have it
			if pub := readPublic(path + ".pub"); pub != nil {
				f, err = &keyFile{path: path, pub: pub, half: true}, nil
			}
		}
		switch {
		case err == nil:
			files = append(files, f)
		case path == p.named:
			return nil, fmt.Errorf("key file %s: %w", path, err)
		case !missing(err):
			d.warn("", fmt.Sprintf("key file %s is not used: %s", path, plain(err)))
		}
	}
	return files, nil
}

// agentKeys are the keys of the user's agent. Without one, or with one that does not answer, there
// are none.
func (d *Dialer) agentKeys(p *resolvedTarget) ([]ssh.Signer, func()) {
	none := func() {}
	if p.agent == "" {
		return nil, none
	}
	conn, err := net.DialTimeout("unix", p.agent, agentPatience)
	if err != nil {
		d.warn("", fmt.Sprintf("the ssh agent at %s is not used: %s", p.agent, plain(err)))
		return nil, none
	}
	_ = conn.SetDeadline(time.Now().Add(agentPatience))
	signers, err := agent.NewClient(conn).Signers()
	_ = conn.SetDeadline(time.Now().Add(signPatience))
	if err != nil {
		conn.Close()
		d.warn("", fmt.Sprintf("the ssh agent at %s is not used: %s", p.agent, plain(err)))
		return nil, none
	}
	return signers, func() { conn.Close() }
}

func find(signers []ssh.Signer, pub ssh.PublicKey) ssh.Signer {
	for _, s := range signers {
		if bytes.Equal(s.PublicKey().Marshal(), pub.Marshal()) {
			return s
		}
	}
	return nil
}

func agentName(s ssh.Signer) string {
	if k, ok := s.PublicKey().(*agent.Key); ok && k.Comment != "" {
		return fmt.Sprintf("agent key %q", clip(k.Comment))
	}
	return "agent key"
}

// left are the keys that were not offered, because the host hung up before or one of them stayed
// locked.
func (o *authKeys) left() (left []*authKey) {
	for _, s := range o.signers {
		if tried, err := s.wasTried(); !tried {
			left = append(left, s)
		} else if err != nil {
			o.locked = errors.Join(o.locked, fmt.Errorf("%s: %w", s.name, err))
		}
	}
	return left
}

func names(signers []*authKey) (names []string) {
	for _, s := range signers {
		names = append(names, s.name)
	}
	return names
}

// keep leaves only those of the keys that were left by an earlier try.
func (o *authKeys) keep(left []*authKey) {
	if left == nil {
		return
	}
	o.signers = slices.DeleteFunc(o.signers, func(s *authKey) bool {
		return !slices.Contains(names(left), s.name)
	})
}
