package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// grace is how long a call waits for what it has told to end.
const grace = 2 * time.Second

// transport is what a host must be able to do for commands.
type transport interface {
	Name() string
	// start starts a script. The writers get all output before wait of the running ends.
	start(ctx context.Context, c Command, stdout, stderr io.Writer) (running, error)
}

// running is a command that was started.
type running interface {
	stdin() io.WriteCloser
	// wait waits for its end and all its output. An *ExitError needs no Host, Command and Stderr.
	wait() error
	// terminate tells it to end and lets go of it. It never blocks.
	terminate()
}

// job is a running command with its input and output.
type job struct {
	ctx            context.Context // of the whole command; its cause is why it was ended
	name, host     string
	r              running
	stdout, stderr *outputGate
	end            *tail
	ended          chan error
}

// launch starts a command. ctx is about all of it.
func launch(ctx context.Context, t transport, c Command) (*job, error) {
	script, err := c.script()
	if err != nil {
		return nil, fmt.Errorf("run on %s: %w", t.Name(), err)
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	ctx, stop := context.WithCancelCause(ctx)
	j := &job{ctx: ctx, name: title(c, script), host: t.Name(), ended: make(chan error, 1)}
	fail := func(what string) func(error) {
		return func(err error) {
			stop(fmt.Errorf("run %s on %s: %s: %w", j.name, j.host, what, err))
		}
	}
	j.stdout = &outputGate{to: c.Stdout, fail: fail("write its output")}
	j.stderr = &outputGate{to: c.Stderr, fail: fail("write its error output")}
	j.end = &tail{to: j.stderr}
	if j.r, err = t.start(ctx, c, j.stdout, j.end); err != nil {
		stop(nil)
		return nil, err
	}
	go feed(j.r.stdin(), c.Stdin, fail("read its input"))
	go func() {
		j.ended <- j.r.wait()
		stop(nil)
	}()
	return j, nil
}

// feed gives a command its input. When that breaks the command must not take what it got for all of
// it.
func feed(to io.WriteCloser, from io.Reader, fail func(error)) {
	if from != nil {
		broken := &readFault{from: from}
		_, _ = io.Copy(to, broken) // a command need not read its input
		if broken.err != nil {
			fail(broken.err)
			return
		}
	}
	_ = to.Close()
}

// readFault tells a reader that failed from a writer that did.
type readFault struct {
	from io.Reader
	err  error
}

func (r *readFault) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// wait waits for the command, or for the end of its context.
func (j *job) wait() error {
	select {
	case err := <-j.ended:
		return j.explain(err)
	case <-j.ctx.Done():
	}
	select {
	case err := <-j.ended: // it ended by itself
		return j.explain(err)
	default:
	}
	j.r.terminate()
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case <-j.ended:
	case <-late.C:
	}
	j.stdout.close()
	j.stderr.close()
	return context.Cause(j.ctx)
}

func (j *job) explain(err error) error {
	if cause := context.Cause(j.ctx); err == nil && cause != nil && cause != context.Canceled {
		return cause // it ended well, but its input or output did not
	}
	var exit *ExitError
	if errors.As(err, &exit) {
		exit.Host, exit.Command, exit.Stderr = j.host, j.name, strings.ToValidUTF8(j.end.String(),
			"\uFFFD")
	}
	return err
}

// run runs a command until ctx or alive ends.
func run(ctx, alive context.Context, t transport, c Command) error {
	if alive.Err() != nil {
		return context.Cause(alive)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(alive, func() { stop(context.Cause(alive)) })()
	j, err := launch(ctx, t, c)
	if err != nil {
		return err
	}
	return j.wait()
}

// pipe runs a command with a connection as its input and output, for as long as alive lasts.
func pipe(ctx, alive context.Context, t transport, c Command) (net.Conn, error) {
	if c.Stdin != nil || c.Stdout != nil {
		return nil, fmt.Errorf("run on %s: a command whose input and output are a connection has "+
			"neither Stdin nor Stdout", t.Name())
	}
	alive, end := context.WithCancelCause(alive)
	stop := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
	s := newStream(address{"pipe", t.Name()}, func() {
		late := time.NewTimer(grace)
		defer late.Stop()
		select {
		case <-alive.Done(): // its input has ended, and so did the command
		case <-late.C:
			end(net.ErrClosed)
		}
	})
	c.Stdin, c.Stdout = s.sent, s.got
	j, err := launch(alive, t, c)
	if !stop() && err == nil { // ctx ended meanwhile
		err = context.Cause(ctx)
		_ = j.wait()
	}
	if err != nil {
		end(nil)
		s.abandon()
		return nil, err
	}
	go func() {
		err := j.wait()
		s.fails(err)
		s.sent.Close() // first: who has read the end can write no more
		s.end(err)
		end(nil)
	}()
	return s, nil
}

// title is the beginning of a command, for people.
func title(c Command, script string) string {
	if len(c.Argv) > 0 {
		script = quoteAll(c.Argv)
	}
	first, _, more := strings.Cut(strings.TrimSpace(script), "\n")
	const kept = 60
	if len(first) > kept {
		first, more = strings.ToValidUTF8(first[:kept], ""), true
	}
	if more {
		first += "…"
	}
	return "`" + first + "`"
}
