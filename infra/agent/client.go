package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Client makes requests to an agent. Its methods may be called concurrently. Their errors are
// *Error where the agent refuses, the cause of ctx where that has ended, and what ended the
// connection.
type Client struct {
	host  string
	conn  net.Conn
	http  *http.Client
	only  onlyConn
	fresh bool
}

// maxRequests is how many requests go on at once; more wait. Connections to Docker, the master and
// the monitor are requests that last.
const maxRequests = 1000

// Flow-control windows, in bytes. A stream's fills a network of 100 MB/s at a round trip of 10 ms.
// The connection's is the sum of all streams': data that is not read counts against it, so with a
// smaller one a few unread streams would block all others. Package http documents a maximum of 4
// MiB for it, and accepts what HTTP/2 allows, 2 GiB.
const (
	perStream     = 1 << 20
	perConnection = maxRequests * perStream
	perFrame      = 256 << 10
)

// HTTP2 is how both ends speak: HTTP/2 without TLS, as the connection is ssh's.
func HTTP2() (*http.Protocols, *http.HTTP2Config) {
	p := &http.Protocols{}
	p.SetUnencryptedHTTP2(true)
	return p, &http.HTTP2Config{MaxConcurrentStreams: maxRequests,
		MaxReceiveBufferPerStream:     perStream,
		MaxReceiveBufferPerConnection: perConnection, MaxReadFrameSize: perFrame}
}

// NewClient returns a client of an agent that has said Ready on conn.
func NewClient(host string, conn net.Conn) *Client { return newClient(host, conn, false) }

func newClient(host string, conn net.Conn, fresh bool) *Client {
	c := &Client{host: host, conn: conn, fresh: fresh}
	protocols, http2 := HTTP2()
	http2.StrictMaxConcurrentRequests = true
	t := &http.Transport{Protocols: protocols, HTTP2: http2, DisableCompression: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }}
	c.only = sync.OnceValues(func() (*http.ClientConn, error) {
		return t.NewClientConn(context.Background(), "http", "agent:80")
	})
	c.http = &http.Client{Transport: c.only}
	return c
}

// onlyConn sends all requests over one connection. The first request starts it, but not with its
// own context, which would end it for the others.
type onlyConn func() (*http.ClientConn, error)

func (o onlyConn) RoundTrip(r *http.Request) (*http.Response, error) {
	conn, err := o()
	if err != nil {
		return nil, err
	}
	return conn.RoundTrip(r)
}

// Fresh reports whether the program was brought to the host for this client.
func (c *Client) Fresh() bool { return c.fresh }

// Ended reports whether the connection has ended.
func (c *Client) Ended() bool {
	conn, err := c.only()
	return err != nil || conn.Err() != nil
}

// Close ends the connection, and with it the agent.
func (c *Client) Close() error { return c.conn.Close() }

// Do makes a request and returns its answer where the status is 2xx; the answer of another status
// is returned as an *Error. ctx also bounds the reading of the body, which the caller closes.
func (c *Client) Do(
	ctx context.Context, method, path string, body io.Reader,
) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://agent"+path, body)
	if err != nil {
		return nil, err
	}
	answer, err := c.http.Do(r)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		return nil, fmt.Errorf("ask the agent on %s: %w", c.host, c.cut(err))
	case answer.StatusCode < 300:
		answer.Body = &answerBody{answer.Body, c}
		return answer, nil
	}
	defer answer.Body.Close()
	failed := &Error{}
	err = json.NewDecoder(io.LimitReader(answer.Body, MaxText)).Decode(failed)
	if err != nil || failed.Text == "" {
		failed.Text = "the agent answers " + answer.Status
	}
	return nil, failed
}

// cut returns io.ErrUnexpectedEOF for errors that say no more than that the connection has ended,
// or was closed here: those of pipes, and those of package http, which have no name but begin
// alike. Others, such as ssh's, say why.
func (c *Client) cut(err error) error {
	_, pipe := errors.AsType[*fs.PathError](err)
	if pipe || err == net.ErrClosed || strings.HasPrefix(err.Error(), "http2: ") && c.Ended() {
		return io.ErrUnexpectedEOF
	}
	return err
}

// answerBody is the body of an answer.
type answerBody struct {
	io.ReadCloser
	client *Client
}

func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		err = b.client.cut(err)
	}
	return n, err
}

// call makes a request with the body in, and decodes the answer into out, both as JSON; nil is
// none.
func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	answer, err := c.Do(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if out == nil {
		return nil
	}
	// Data is in base64, a third longer, and the audit has several files.
	err = json.NewDecoder(io.LimitReader(answer.Body, 16*MaxText)).Decode(out)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// open is a request that goes on after the call that made it: its body is written while its answer
// is read.
type open struct {
	answer io.ReadCloser
	body   *io.PipeWriter
	cancel context.CancelCauseFunc
}

// open makes one. ctx is about the beginning of its answer only.
func (c *Client) open(ctx context.Context, path string) (*open, error) {
	lasting, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	from, body := io.Pipe()
	answer, err := c.Do(lasting, http.MethodPost, path, from)
	if !stop() && err == nil {
		answer.Body.Close()
		err = context.Cause(ctx)
	}
	if err != nil {
		cancel(nil)
		return nil, err
	}
	return &open{answer.Body, body, cancel}, nil
}

// Lock is a lock on a host. It is held until Close, or the end of the connection.
type Lock struct{ request *open }

// Lock takes a lock. ctx is about taking it only. Where another has it the error is an *Error with
// a Holder.
func (c *Client) Lock(ctx context.Context, q LockRequest) (*Lock, error) {
	v := url.Values{"file": {q.File}, "holder": {q.Holder}, "break": {strconv.FormatBool(q.Break)}}
	request, err := c.open(ctx, "/lock?"+v.Encode())
	if err != nil {
		return nil, err
	}
	return &Lock{request}, nil
}

// unlockTime is how long Close waits for the host.
const unlockTime = 2 * time.Second

// Close releases the lock. Another can take it once Close has returned, unless the host does not
// answer within two seconds.
func (l *Lock) Close() {
	r := l.request
	late := time.AfterFunc(unlockTime, func() { r.cancel(nil) })
	defer late.Stop()
	r.body.Close()
	_, _ = io.Copy(io.Discard, r.answer) // it ends when the lock is released
	r.answer.Close()
	r.cancel(nil)
}

// MakeFolders makes a cluster's folders. Those that are there stay as they are.
func (c *Client) MakeFolders(ctx context.Context, f Folders) error {
	return c.call(ctx, http.MethodPut, "/folders", f, nil)
}

// RemoveRoot removes a cluster's folder with its lock, and the folder that it is in when nothing
// else is there.
func (c *Client) RemoveRoot(ctx context.Context, f Folders) error {
	return c.call(ctx, http.MethodDelete, "/folders", f, nil)
}

// PutPrivate writes files with mode 0600 into a folder with mode 0700: each whole, and none unless
// all have arrived.
func (c *Client) PutPrivate(ctx context.Context, f PrivateFiles) error {
	return c.call(ctx, http.MethodPut, "/private", f, nil)
}

// ReadText reads a file of a root, at most MaxText of it; "" where it is not there.
func (c *Client) ReadText(ctx context.Context, root, name string) (string, error) {
	var t Text
	q := url.Values{"root": {root}, "name": {name}}
	err := c.call(ctx, http.MethodGet, "/text?"+q.Encode(), nil, &t)
	return string(t.Data), err
}

// WriteText writes a file of a root with mode 0600, whole or not at all.
func (c *Client) WriteText(ctx context.Context, t Text) error {
	return c.call(ctx, http.MethodPut, "/text", t, nil)
}

// AppendAudit appends a line to the audit of a cluster. Where its folder is gone it does nothing.
func (c *Client) AppendAudit(ctx context.Context, l AuditLine) error {
	return c.call(ctx, http.MethodPost, "/audit", l, nil)
}

// Audit returns the last lines of the audit, at most most.
func (c *Client) Audit(ctx context.Context, root string, most int) (lines []string, err error) {
	q := url.Values{"root": {root}, "lines": {strconv.Itoa(most)}}
	err = c.call(ctx, http.MethodGet, "/audit?"+q.Encode(), nil, &lines)
	return lines, err
}

// LeaveToken makes a token in the home folder.
func (c *Client) LeaveToken(ctx context.Context, name string) error {
	return c.call(ctx, http.MethodPut, "/tokens", Token{name}, nil)
}

// RemoveToken removes one.
func (c *Client) RemoveToken(ctx context.Context, name string) error {
	return c.call(ctx, http.MethodDelete, "/tokens", Token{name}, nil)
}

// Tokens returns those that are in the home folder.
func (c *Client) Tokens(ctx context.Context) (all []Token, err error) {
	err = c.call(ctx, http.MethodGet, "/tokens", nil, &all)
	return all, err
}

// CopyProgram puts a copy of the agent's program into a root, for containers.
func (c *Client) CopyProgram(ctx context.Context, p ProgramCopy) error {
	return c.call(ctx, http.MethodPut, "/program", p, nil)
}

// RemoveProgram removes the agent's program from the cache, and the folders that were made for it.
// The agent goes on.
func (c *Client) RemoveProgram(ctx context.Context) error {
	return c.call(ctx, http.MethodDelete, "/program", nil, nil)
}
