package remote

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
)

// tries is how often a host is tried that hangs up before it said who it is; backOff is the mean
// time between two.
const (
	tries   = 3
	backOff = 700 * time.Millisecond
)

// connect connects with as many tries as make sense. jump replaces the jump hosts of the
// configuration; nil does not.
func (d *Dialer) connect(ctx context.Context, t Target, jump []string) (*link, error) {
	p, err := d.resolve(t, jump)
	if err == nil {
		err = d.checkHops(p)
	}
	if err != nil {
		return nil, &Error{Host: t.Name, Op: "connect to " + t.Name, Kind: BadConfig,
			Cause: plain(err), Err: err}
	}
	var only []*authKey // on a second login
	var locked error    // of the first
	for n := 1; ; n++ {
		a := &attempt{d: d, p: p, name: t.Name, op: "connect to " + t.Name}
		l, err := a.connect(ctx, only)
		if err == nil {
			d.o.Logger.Debug("connected", "host", t.Name, "address", l.facts.Address, "user",
				p.user, "try", n)
			return l, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		e, _ := errors.AsType[*Error](err)
		switch {
		case e == nil || a.hopped: // a jump host had its tries
			return nil, err
		case e.Kind == Reset && n < tries:
		case (e.Kind == BadLogin || e.Kind == Passphrase) && only == nil && len(a.left) > 0:
			if only = a.left; e.Kind == Passphrase {
				locked = err
			}
		case e.Kind == BadLogin && locked != nil:
			return nil, locked
		default:
			return nil, err
		}
		d.o.Logger.Debug("connecting again", "host", t.Name, "try", n, "after", err)
		select {
		case <-time.After(time.Duration(n) * (backOff/2 + rand.N(backOff))):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// attempt is one try to connect.
type attempt struct {
	d        *Dialer
	p        *resolvedTarget
	name, op string

	trust   trust
	clock   *pausableTimer
	late    atomic.Bool // the clock ran out
	hopped  bool        // what is wrong is wrong with a jump host
	methods []string    // how the host lets people in
	partly  bool        // a key was taken, and more is asked for
	begun   bool        // logging in
	keys    *authKeys
	left    []*authKey // keys that the host did not see
}

func (a *attempt) connect(ctx context.Context, only []*authKey) (*link, error) {
	via, err := a.hop(ctx)
	if err != nil {
		return nil, err
	}
	select {
	case a.d.handshakes <- struct{}{}:
		defer func() { <-a.d.handshakes }()
	case <-ctx.Done():
		via.release()
		return nil, context.Cause(ctx)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	a.clock = startPausableTimer(a.d.o.Timeout, func() {
		a.late.Store(true)
		stop()
	})
	defer a.clock.stop()
	l, err := a.handshake(ctx, via, only)
	if err != nil {
		via.release()
		return nil, a.explain(err)
	}
	return l, nil
}

func (a *attempt) handshake(ctx context.Context, via *hop, only []*authKey) (*link, error) {
	raw, err := a.dial(ctx, via)
	if err != nil {
		return nil, err
	}
	s := &socket{Conn: raw}
	if a.keys, err = a.d.gather(ctx, a.p, a.clock.hold); err != nil {
		s.Close()
		remedy := "name one that is there and readable"
		if public, is := errors.AsType[*publicKey](err); is {
			remedy = public.remedy()
		}
		return nil, &Error{Host: a.name, Op: a.op, Kind: BadKey, Cause: plain(err),
			Remedy: remedy, Err: err}
	}
	defer a.keys.close()
	a.keys.keep(only)
	hangUp := context.AfterFunc(ctx, func() { s.Close(); a.keys.close() })
	client, err := a.login(s)
	if !hangUp() && err == nil { // too late
		client.Close()
		err = ctx.Err()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	facts := Facts{User: a.p.user, HostName: a.p.host, Port: a.p.port,
		Address: raw.RemoteAddr().String(), Via: via.name()}
	return newLink(a.name, facts, client, s, a.d.o, via.release), nil
}

// dial opens the connection: from a jump host, by a command, or from here.
func (a *attempt) dial(ctx context.Context, via *hop) (net.Conn, error) {
	if via != nil {
		return via.l.dial(ctx, a.p.address())
	}
	if a.p.proxy != "" {
		return a.dialProxy(ctx)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", a.p.address())
}

// login shakes hands and logs in.
func (a *attempt) login(s *socket) (*ssh.Client, error) {
	a.trust = trust{d: a.d, name: a.name, op: a.op, p: a.p}
	k, err := a.d.readKnown(a.p.known)
	if err != nil {
		return nil, &Error{Host: a.name, Op: a.op, Kind: HostUnknown, Cause: "known_hosts cannot " +
			"be read: " + clip(plain(err)), Err: err}
	}
	signers := make([]ssh.Signer, len(a.keys.signers))
	for i, key := range a.keys.signers {
		signers[i] = key
	}
	conn, channels, requests, err := ssh.NewClientConn(s, a.p.trusted, &ssh.ClientConfig{
		User:              a.p.user,
		Auth:              []ssh.AuthMethod{ssh.PublicKeys(signers...)},
		HostKeyCallback:   a.trust.decide,
		HostKeyAlgorithms: k.algorithms(a.p.trusted),
		ClientVersion:     "SSH-2.0-mlframework",
		AuthCallback: func(c *ssh.ClientAuthContext) (ssh.AuthMethod, error) {
			a.methods, a.partly, a.begun = c.AllowedMethods, len(c.PartialSuccessMethods) > 0, true
			return nil, nil
		},
	})
	if err != nil {
		return nil, err
	}
	return ssh.NewClient(conn, channels, requests), nil
}

// hop connects to the last of the jump hosts, through the others; nil without any.
func (a *attempt) hop(ctx context.Context) (*hop, error) {
	if len(a.p.hops) == 0 {
		return nil, nil
	}
	last := len(a.p.hops) - 1
	before := a.p.hops[:last:last]
	if last == 0 {
		before = nil // the first one is reached as its own configuration says
	}
	h, err := a.d.hops.get(ctx, a.d, a.p.hops[last], before)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return nil, a.behind(e)
	}
	return h, err
}

// behind is what is wrong with a jump host, told of the host behind it.
func (a *attempt) behind(e *Error) error {
	a.hopped = true
	own := *e
	own.Host, own.Op = a.name, a.op+": "+e.Op
	return &own
}
