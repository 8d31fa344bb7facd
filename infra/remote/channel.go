package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/crypto/ssh"
)

// fromHost moves what comes over a channel to a stream.
func (l *link) fromHost(s *stream, from net.Conn) {
	_, _ = io.Copy(s.got, from) // how it ended is told below
	s.end(l.died())
}

// toHost moves what is written to a stream into a channel.
func (l *link) toHost(s *stream, to net.Conn) {
	_, err := io.Copy(to, s.sent)
	if err != nil {
		s.fails(l.died())
	}
	s.sent.Close()
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		_ = half.CloseWrite()
	}
}

func (l *link) Run(ctx context.Context, c Command) error { return run(ctx, l.alive, l, c) }

func (l *link) Pipe(ctx context.Context, c Command) (net.Conn, error) {
	return pipe(ctx, l.alive, l, c)
}

// session is a command over ssh.
type session struct {
	*ssh.Session
	l    *link
	mark string // in the environment of all that it runs: NAME=VALUE
	in   io.WriteCloser
	gone chan struct{}
	out  *scriptOutput
	said io.Writer // its error output
}

func (l *link) start(ctx context.Context, c Command, stdout, stderr io.Writer) (running, error) {
	mark := rand.Text()
	line, err := c.line(mark)
	if err != nil {
		return nil, fmt.Errorf("run on %s: %w", l.name, err)
	}
	s, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	s.out, s.said = &scriptOutput{to: stdout, mark: []byte(mark + "\n")}, stderr
	s.Stdout, s.Stderr, s.mark = s.out, stderr, runVariable+"="+mark
	if s.in, err = s.StdinPipe(); err == nil {
		_, err = await(ctx, l, func() (bool, error) { return true, s.Start(line) }, func(bool) {})
	}
	if err != nil {
		go s.Close()
		return nil, l.notStarted(ctx, err)
	}
	return s, nil
}

func (l *link) notStarted(ctx context.Context, err error) error {
	if l.Err() != nil || ctx.Err() != nil {
		return err
	}
	return &Error{Host: l.name, Op: "run on " + l.name, Kind: NoSession, Cause: "sshd started no " +
		"command (" + clip(err.Error()) + ")",
		Remedy: fmt.Sprintf("the login shell of %s may be missing, or its key may be for one "+
			"command only", l.facts.User), Err: err}
}

// open opens a session. An sshd goes on counting one for a moment after it has told its end: where
// it takes no more it is asked again for as long.
func (l *link) open(ctx context.Context) (*session, error) {
	patience := time.After(lag)
	for {
		raw, err := await(ctx, l, l.client.NewSession, func(s *ssh.Session) { _ = s.Close() })
		if err == nil {
			return &session{Session: raw, l: l, gone: make(chan struct{})}, nil
		}
		var refused *ssh.OpenChannelError
		if !errors.As(err, &refused) {
			return nil, err
		}
		select {
		case <-time.After(askLag):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-patience:
			return nil, &Error{Host: l.name, Op: "run on " + l.name, Kind: NoSession, Err: refused,
				Cause:  fmt.Sprintf("sshd opens no session (%s)", clip(refused.Message)),
				Remedy: "MaxSessions in sshd_config may be too low (its default is 10)"}
		}
	}
}

// lag is how long an sshd may count a session that has ended; askLag is the pause between two
// questions.
const (
	lag    = 2 * time.Second
	askLag = 20 * time.Millisecond
)

func (s *session) stdin() io.WriteCloser { return s.in }

func (s *session) wait() error {
	err := s.Wait()
	_ = s.Close()
	close(s.gone)
	if !s.out.begun { // what the login shell printed instead tells why
		_, _ = s.said.Write(s.out.before)
	}
	var exit *ssh.ExitError
	var missing *ssh.ExitMissingError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit) && exit.Signal() != "":
		return &ExitError{Signal: exit.Signal()}
	case errors.As(err, &exit):
		return &ExitError{Code: exit.ExitStatus()}
	}
	if why := s.l.died(); why != nil {
		return why
	}
	if errors.As(err, &missing) {
		return &ExitError{Missing: true}
	}
	return err
}

// signalPatience is how long a signal by sshd may take.
const signalPatience = 300 * time.Millisecond

// terminate asks sshd to end the process group. That does nothing where sshd is older than OpenSSH
// 7.9, or the user is root; then a session of its own ends whatever carries the mark. All of it
// goes on behind the caller's back, for a frozen peer takes nothing.
func (s *session) terminate() {
	go func() {
		_ = s.Signal(ssh.SIGTERM)
		late := time.NewTimer(signalPatience)
		defer late.Stop()
		select {
		case <-s.gone:
			return
		case <-late.C:
		}
		if killer, err := s.l.client.NewSession(); err == nil {
			_ = killer.Run(killLine(s.mark, killPatience))
			_ = killer.Close()
		}
		_ = s.Close()
	}()
}
