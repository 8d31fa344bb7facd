package amqp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"regexp"
	"strings"
	"syscall"

	"github.com/rabbitmq/amqp091-go"
)

// FaultKind is what kept the broker from being reached.
type FaultKind string

// The kinds of faults.
const (
	Refused     FaultKind = "refused"     // nothing listens there
	UnknownHost FaultKind = "host"        // the name has no address
	TimedOut    FaultKind = "timeout"     // no answer
	Unreachable FaultKind = "unreachable" // no way there
	BadLogin    FaultKind = "login"       // user or password is wrong
	NoVhost     FaultKind = "vhost"       // it does not exist, or the user may not use it
	// it is not the broker that was meant, as far as can be told
	Certificate FaultKind = "certificate"
	PlainPort   FaultKind = "plain-port" // TLS was spoken to a port without
	TLSPort     FaultKind = "tls-port"   // no TLS was spoken to a port with
	NoFile      FaultKind = "file"       // credentials or certificates cannot be read
	Forbidden   FaultKind = "forbidden"  // the user lacks a permission
	Mismatch    FaultKind = "mismatch"   // a queue of that name was made otherwise
	Lost        FaultKind = "lost"       // a connection that was there ended
	Unready     FaultKind = "unready"    // no master has been there yet
	Locked      FaultKind = "locked"     // another master uses the broker
	// it could not do what was asked just then; two that set up one queue at once are enough
	Clash FaultKind = "clash"
	Other FaultKind = "other"
)

// Fault says why the broker cannot be reached or used, in a sentence with the way out.
type Fault struct {
	Kind   FaultKind
	Broker string // HOST:PORT, or HOST:PORT/VHOST
	Cause  error

	text string
}

func (f *Fault) Error() string { return "broker " + f.Broker + ": " + f.text }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Cause }

// fileError is a file of the options that cannot be used.
type fileError struct {
	what, file string
	cause      error
}

func (e *fileError) Error() string {
	return fmt.Sprintf("read the %s %s: %v", e.what, e.file,
		e.cause)
}
func (e *fileError) Unwrap() error { return e.cause }

// explain makes a fault of whatever went wrong. Answered tells the first bytes that came from the
// broker, if any.
func explain(at address, err error, answered []byte) *Fault {
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	kind, words := classify(at, err, answered)
	return &Fault{Kind: kind, Broker: at.String(), Cause: err, text: words}
}

func classify(at address, err error, answered []byte) (FaultKind, string) {
	var (
		file    *fileError
		user    *wrongUser
		locked  *lockedError
		dns     *net.DNSError
		header  tls.RecordHeaderError
		network net.Error
		said    *amqp091.Error
	)
	switch {
	case errors.As(err, &file):
		if errors.Is(err, fs.ErrNotExist) {
			return NoFile, fmt.Sprintf("there is no %s: %s; make it, or correct its name",
				file.what, file.file)
		}
		return NoFile, fmt.Sprintf("%v; correct the file", err)
	case errors.As(err, &user):
		return BadLogin, user.Error()
	case errors.As(err, &locked):
		return Locked, fmt.Sprintf("%v; retrying for up to %v, because the broker may not have "+
			"noticed yet that the other one has ended", locked, DeadPeerTimeout)
	case errors.As(err, &dns):
		return UnknownHost, fmt.Sprintf("the host %s is not found (%s); correct the address, or "+
			"the name service", at.host, dns.Err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return Refused, "the connection was refused: nothing listens there; start the broker, or " +
			"correct the address"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return Unreachable, "no route to the host; check the network and its firewalls"
	case certificate(err):
		return Certificate, fmt.Sprintf("its certificate is not trusted (%v); use the CA file of "+
			"this broker, and a name that is in its certificate", certificateCause(err))
	case errors.As(err, &header) || at.tls && strings.HasPrefix(string(answered), "AMQP"):
		return PlainPort, "it does not speak TLS on this port; use its TLS port (5671 by " +
			"custom), or amqp:// if the connection needs no protection"
	case !at.tls && len(answered) > 1 && answered[0] == tlsAlert && answered[1] == 3:
		return TLSPort, "it speaks TLS on this port; write amqps://"
	case errors.Is(err, errConfirmTimeout):
		return TimedOut, errConfirmTimeout.Error() +
			"; see whether it is overloaded, or a queue has no leader"
	case errors.As(err, &said) && said.Code >= 300 && said.Code != amqp091.FrameError &&
		said != amqp091.ErrClosed:
		return classifySaid(at, said)
	case errors.As(err, &network) && network.Timeout(), errors.Is(err, os.ErrDeadlineExceeded),
		errors.Is(err, context.DeadlineExceeded),
		// the library keeps the words only
		errors.As(err, &said) && strings.HasSuffix(said.Reason, "i/o timeout"):
		return TimedOut, "there was no answer in time; see whether the broker hangs, or a " +
			"firewall drops what is sent to it"
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.As(err, &said):
		return Lost, fmt.Sprintf("the connection was lost (%s); it is tried again. If this "+
			"repeats, see the broker's log", reason(err))
	}
	return Other, reason(err)
}

// tlsAlert is the first byte of the record in which TLS says what is wrong.
const tlsAlert = 21

// classifySaid is for what the broker gave as its reason.
func classifySaid(at address, said *amqp091.Error) (FaultKind, string) {
	switch {
	case said == amqp091.ErrCredentials, said == amqp091.ErrSASL,
		said.Code == amqp091.AccessRefused &&
			strings.Contains(strings.ToLower(said.Reason), "login"):
		return BadLogin, "it does not accept user and password; correct the file with the " +
			"credentials, or the user on the broker"
	case said.Code == amqp091.NotFound:
		return Unready, fmt.Sprintf("the master has not made what is needed there (%s); start "+
			"the master, which makes it for each worker that it hears of. "+
			"It is tried again", said.Reason)
	case said == amqp091.ErrVhost, strings.Contains(said.Reason, "vhost"):
		return NoVhost, fmt.Sprintf("the vhost %s does not exist, or the user may not use it "+
			"(%s); make it, or give the user its permissions", at.vhost, said.Reason)
	case said.Code == amqp091.AccessRefused:
		return Forbidden, fmt.Sprintf("the user lacks a permission (%s); give it to the user",
			said.Reason)
	case said.Code == amqp091.PreconditionFailed || said.Code == amqp091.ResourceLocked:
		return Mismatch, fmt.Sprintf("something of this name is there and was made otherwise "+
			"(%s); delete it, if nobody else needs it", said.Reason)
	case said.Code == amqp091.InternalError:
		return Clash, fmt.Sprintf("it failed at what was asked (%s); it is tried again. If this "+
			"repeats, see the broker's log", said.Reason)
	case said.Code == amqp091.ConnectionForced:
		return Lost, fmt.Sprintf("it ended the connection (%s); it is tried again", said.Reason)
	}
	return Other, fmt.Sprintf("it said %d, %s", said.Code, said.Reason)
}

func certificate(err error) bool {
	var (
		verify    *tls.CertificateVerificationError
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	return errors.As(err, &verify) || errors.As(err, &authority) || errors.As(err, &name) ||
		errors.As(err, &invalid)
}

func certificateCause(err error) error {
	var verify *tls.CertificateVerificationError
	if errors.As(err, &verify) {
		return verify.Err
	}
	return err
}

// ports are in the words of errors of the network, and differ with every try.
var ports = regexp.MustCompile(`\b(read|write) tcp \S+->\S+: `)

func reason(err error) string {
	var said *amqp091.Error
	if errors.As(err, &said) {
		return ports.ReplaceAllString(said.Reason, "")
	}
	return ports.ReplaceAllString(err.Error(), "")
}
