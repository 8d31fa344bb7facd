package filesync

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// ServeOptions say what Serve gives access to.
type ServeOptions struct {
	Root string // the folder; it is made with its first push
	// Own, where not nil, are folders of a machine that no cluster has. Nothing but a fetch is served then, and Root is not used.
	Own  *Folders
	Idle time.Duration // how long a client that holds the lock may be silent; 0 is 2 minutes
}

// Folders are where runs on one machine keep what tasks left, and the revisions of projects.
type Folders struct{ Outputs, Revisions string }

// Serve is the far side: it answers one client's requests until the client goes away (nil), ctx ends, or a message makes no
// sense. Where reading from conn cannot be interrupted, a goroutine stays in it until conn is closed.
func Serve(ctx context.Context, conn io.ReadWriter, o ServeOptions) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if o.Idle <= 0 {
		o.Idle = 2 * time.Minute
	}
	s := &server{o: o, wire: newWire(conn), frames: make(chan received, 16)}
	go s.receive(ctx)
	err := s.session(ctx)
	if errors.Is(err, io.EOF) {
		return nil
	}
	_ = s.wire.writeJSON(refusalFrame, asRefusal(err)) // whoever can still read it
	_ = s.wire.flush()
	return err
}

// A server is one client's session.
type server struct {
	o      ServeOptions
	wire   *wire
	frames chan received
	client Identity
}

// received is a frame, or why there is none any more.
type received struct {
	frame frame
	err   error
}

// receive reads ahead, while what came before is written to the disk.
func (s *server) receive(ctx context.Context) {
	for {
		f, err := s.wire.read()
		select {
		case s.frames <- received{f, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// next is the client's next frame.
func (s *server) next(ctx context.Context) (frame, error) {
	select {
	case r := <-s.frames:
		return r.frame, r.err
	case <-ctx.Done():
		return frame{}, context.Cause(ctx)
	}
}

// soon is next within the time that a client with the lock may be silent; its end is no usual one.
func (s *server) soon(ctx context.Context) (frame, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.o.Idle, fmt.Errorf("the client was silent for %v in the middle of a push", s.o.Idle))
	defer cancel()
	f, err := s.next(ctx)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return f, err
}

// session answers requests until one fails, as nobody knows then where the next one begins. io.EOF: the client is gone.
func (s *server) session(ctx context.Context) error {
	f, err := s.next(ctx)
	if err != nil {
		return err
	}
	if f.kind != helloFrame {
		return refuse(Malformed, "%v", unexpected(f))
	}
	if err := f.decode(&s.client); err != nil {
		return refuse(Malformed, "%v", err)
	}
	for {
		f, err := s.next(ctx)
		if err != nil {
			return err
		}
		var q request
		if f.kind != requestFrame {
			return refuse(Malformed, "%v", unexpected(f))
		}
		if err := f.decode(&q); err != nil {
			return refuse(Malformed, "%v", err)
		}
		a, err := s.request(ctx, q)
		if err != nil {
			return err
		}
		if err := s.wire.writeJSON(answerFrame, a); err != nil {
			return err
		}
		if err := s.wire.flush(); err != nil {
			return err
		}
	}
}

// nothing answers where there is no root yet: nothing is pruned or fetched.
func (s *server) nothing(ctx context.Context, q request) error {
	if q.Op != opFetch {
		return nil
	}
	if _, err := s.selection(ctx, q); err != nil {
		return err
	}
	return s.offer(ctx, nil)
}

// request does what a request asks for.
func (s *server) request(ctx context.Context, q request) (answer, error) {
	switch q.Op {
	case opPush, opPrune, opFetch:
	default:
		return answer{}, refuse(Malformed, "there is no request %q", q.Op)
	}
	if s.o.Own != nil && q.Op == opFetch {
		return answer{}, s.fetchOwn(ctx, q)
	}
	r, err := openRoot(s.o.Root, s.client, q.Op == opPush)
	if absent, ok := errors.AsType[*Refusal](err); ok && absent.Code == Absent {
		return answer{}, s.nothing(ctx, q)
	}
	if err != nil {
		return answer{}, err
	}
	defer r.Close()
	switch q.Op {
	case opPush:
		return s.push(ctx, r, q)
	case opPrune:
		return s.prune(ctx, r, q)
	}
	return answer{}, s.fetch(ctx, r, q)
}
