package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/crypto/ssh"
)

// explain says in words for the user why a try to connect failed.
func (a *attempt) explain(err error) error {
	e := &Error{Host: a.name, Op: a.op, Err: err}
	var known *Error
	var lookup *net.DNSError
	var refused *ssh.OpenChannelError
	var exit *ExitError
	at := a.p.address()
	switch is := func(no syscall.Errno) bool { return errors.Is(err, no) }; {
	case a.trust.err != nil:
		return a.trust.err
	case errors.As(err, &known) && known.Host != a.name:
		return a.behind(known)
	case errors.As(err, &known):
		return err
	case a.late.Load():
		e.Kind, e.Cause = TimedOut, fmt.Sprintf("%s did not answer within %s", at, a.d.o.Timeout)
		e.Remedy = "the host may be off, or a firewall in between drops what is sent"
	case errors.As(err, &refused):
		e.Kind, e.Cause = Unreachable, fmt.Sprintf("the jump host does not open a connection to "+
			"%s (%s)", at, clip(refused.Message))
		e.Remedy = "its sshd_config may say AllowTcpForwarding no, or it cannot reach that address"
	case errors.As(err, &exit):
		e.Kind = Unreachable
		e.Cause = "its ProxyCommand ended: " + clip(exit.Error())
		e.Remedy = "try it as ssh does, `ssh " + a.p.alias + "`, or change it in ~/.ssh/config"
	case errors.As(err, &lookup):
		e.Kind, e.Cause = UnknownName, fmt.Sprintf("the name %s has no address (%s)", a.p.host,
			clip(lookup.Err))
		e.Remedy = "check the spelling, or give it a HostName in ~/.ssh/config"
	case a.begun:
		a.explainLogin(e)
	case is(syscall.ECONNREFUSED):
		e.Kind, e.Cause, e.Remedy = Refused, "nothing listens on "+at,
			"start sshd there, or name its port: HOST:PORT"
	case is(syscall.ECONNRESET) || is(syscall.EPIPE) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF):
		e.Kind, e.Cause = Reset, at+" hung up at once"
		e.Remedy = "too many connections at a time (MaxStartups in its sshd_config), or it does " +
			"not let this machine in"
	case is(syscall.ETIMEDOUT):
		e.Kind, e.Cause, e.Remedy = TimedOut, at+" did not answer",
			"the host may be off, or a firewall in between drops what is sent"
	case is(syscall.EHOSTUNREACH): // on one LAN, it is what a host that is off looks like
		e.Kind, e.Cause, e.Remedy = Unreachable, "no route to "+at,
			"the host may be off, or need a jump host"
	case is(syscall.ENETUNREACH):
		e.Kind, e.Cause = Unreachable, "this machine has no route to the network of "+at
		e.Remedy = "check the network, or whether it needs a jump host"
	default:
		e.Kind, e.Cause = NoSSH, fmt.Sprintf("%s does not speak ssh as we do: %s", at,
			clip(plain(err)))
	}
	return e
}

// explainLogin is about a host that is who it should be, and lets nobody in.
func (a *attempt) explainLogin(e *Error) {
	a.left = a.keys.left()
	who := fmt.Sprintf("%s@%s", a.p.user, a.p.host)
	var tried []string
	for _, key := range a.keys.signers {
		if was, _ := key.wasTried(); was {
			tried = append(tried, key.name)
		}
	}
	e.Kind = BadLogin
	switch {
	case a.keys.locked != nil:
		e.Kind = Passphrase
		e.Cause = fmt.Sprintf("%s is let in by a key that is locked: %s", a.p.user,
			clip(a.keys.locked.Error()))
		e.Remedy = "unlock it first with ssh-add, or run this on a terminal"
	case a.partly:
		e.Cause = fmt.Sprintf("it takes the key, and asks for %s besides",
			clip(strings.Join(a.methods, ", ")))
		e.Remedy = "its sshd_config needs AuthenticationMethods publickey for this user"
	case !slices.Contains(a.methods, "publickey"):
		e.Cause = fmt.Sprintf("it lets nobody in by a key, only by %s",
			clip(strings.Join(a.methods, ", ")))
		e.Remedy = "its sshd_config needs PubkeyAuthentication yes"
	case len(a.keys.signers) == 0:
		e.Cause, e.Remedy = "there is no key to offer: no agent has one, and ~/.ssh has none",
			"ssh-keygen, then ssh-copy-id "+who
	default:
		e.Cause = fmt.Sprintf("%s is not let in with %s", a.p.user, clip(strings.Join(tried, ", ")))
		e.Remedy = fmt.Sprintf("ssh-copy-id %s, or name the right key (-i) or user", who)
		if len(a.left) > 0 {
			e.Cause += fmt.Sprintf(", and it hung up before it saw %d more (MaxAuthTries)",
				len(a.left))
			e.Remedy = "name the right key (-i): it is offered first"
		}
	}
}

// plain is an error without the names of calls that only a programmer knows.
func plain(err error) string {
	var path *fs.PathError
	var sys *os.SyscallError
	var op *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.As(err, &op):
		return plain(op.Err)
	case errors.As(err, &sys):
		return sys.Err.Error()
	case errors.As(err, &path):
		return path.Path + ": " + path.Err.Error()
	}
	return strings.TrimPrefix(err.Error(), "ssh: ")
}
