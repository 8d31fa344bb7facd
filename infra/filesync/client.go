package filesync

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"mlframework/projects"
)

// Identity is whose files a client is for.
type Identity struct {
	Owner   string `json:"owner"`   // of the cluster
	Cluster string `json:"cluster"` // its name
	// Who is at work, for others who find the lock taken: "anna@laptop". Empty is Owner.
	Who string `json:"who,omitempty"`
}

// A Client talks to the far side over one connection. It does one thing at a time, so it is for one goroutine. After an error it is
// of no more use, and its connection is closed; the end of a method's context closes it, too. Errors of the far side
// are *Refusal.
type Client struct {
	conn io.ReadWriteCloser
	wire *wire
	err  error // why it is of no more use
}

// NewClient takes over a connection to Serve. It sends nothing yet.
func NewClient(conn io.ReadWriteCloser, id Identity) *Client {
	if id.Who == "" {
		id.Who = id.Owner
	}
	c := &Client{conn: conn, wire: newWire(conn)}
	c.err = c.wire.writeJSON(helloFrame, id)
	return c
}

// Close ends the session.
func (c *Client) Close() error { return c.conn.Close() }

// Prune removes the releases that are neither current nor kept, and that no push asked for during the time older: who has just
// pushed one may be about to submit a sweep. It gives what it removed.
func (c *Client) Prune(ctx context.Context, keep []string, older time.Duration) ([]Revision, error) {
	a, err := c.ask(ctx, "remove old revisions", request{Op: opPrune, Keep: keep, Older: older, Wait: lockWait})
	return a.Revisions, err
}

// lockWait is how long a push or prune waits for another one to end, unless it says something else.
const lockWait = 30 * time.Second

// ask makes a request that is answered at once.
func (c *Client) ask(ctx context.Context, what string, q request) (a answer, err error) {
	err = c.during(ctx, what, func() error {
		if err := errors.Join(c.wire.writeJSON(requestFrame, q), c.wire.flush()); err != nil {
			return c.why(err)
		}
		a, err = c.answer()
		return err
	})
	return a, err
}

// during does one thing with the connection. What goes wrong ends it.
func (c *Client) during(ctx context.Context, what string, do func() error) error {
	if c.err != nil {
		return fmt.Errorf("%s: the connection cannot be used after an error: %w", what, c.err)
	}
	stop := context.AfterFunc(ctx, func() { c.conn.Close() })
	defer stop()
	err := ctx.Err()
	if err == nil {
		err = do()
	}
	if err == nil {
		return nil
	}
	c.conn.Close()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	c.err = err
	return fmt.Errorf("%s: %w", what, err)
}

// answer reads the end of a request.
func (c *Client) answer() (a answer, err error) {
	f, err := c.read()
	if err != nil {
		return a, err
	}
	if f.kind != answerFrame {
		return a, unexpected(f)
	}
	return a, f.decode(&a)
}

// read reads a frame; a refusal is an error.
func (c *Client) read() (frame, error) {
	f, err := c.wire.read()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return f, fmt.Errorf("the connection to the host broke off: %w", io.ErrUnexpectedEOF)
	}
	if err != nil || f.kind != refusalFrame {
		return f, err
	}
	r := &Refusal{}
	if err := f.decode(r); err != nil {
		return f, err
	}
	if r.Code == Changed {
		return f, &projects.ChangedError{Path: string(r.Path)}
	}
	return f, r
}

// why gives the far side's reason for a failed write, where it sent one before it went.
func (c *Client) why(failed error) error {
	f, err := c.read()
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r
	}
	if changed, ok := errors.AsType[*projects.ChangedError](err); ok {
		return changed
	}
	f.release()
	return failed
}
