// Package api is how programs reach a master: HTTP and JSON over a Unix socket that only its owner
// may open.
//
// It has the types on the wire, whose JSON names docs/api.yaml describes, and a [Client]. What
// answers is sweep/api/server; neither it, the master, nor the store is linked by a program that
// only asks.
package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"mlframework/internal/peercred"
)

// Client is a client of a master's API on its Unix socket. It is safe for concurrent use. Its
// errors are *Error where the master refused the request, *Unreachable where it did not answer,
// *UnknownOutcome for a write that may have taken effect, and those of the connection. Set its
// fields before the first call.
type Client struct {
	// User is the name in the audit entries of this client's writes; "": none.
	User string
	// Environ is the environment, as NAME=value, that tasks inherit in sweeps which this client
	// starts or resumes, in a local run; nil: that of the worker.
	Environ []string
	// Waiting, when set, is called from another goroutine when the master has not answered for
	// some seconds.
	Waiting func(text string)
	// GiveUp is the time without a sign of life after which requests fail, in whole seconds; 0:
	// the default.
	GiveUp time.Duration
	// Repeat is how long a write is retried, under its idempotency key, when the connection to the
	// master was lost meanwhile: as long as a restart of the master may take; 0: a second.
	Repeat time.Duration
	// OnDisconnect, when set, makes reads retry until a silent master answers, and for Repeat where
	// none answers on its host; it is called as FollowOptions says. If it is nil, they fail.
	OnDisconnect func(why error) (end bool)

	// Attachment is the id of the attachment that sweeps stop with which this client starts or
	// continues; "": they stop with none.
	Attachment string

	name  string // "the master at SOCKET"
	dial  func(context.Context) (net.Conn, error)
	http  http.Client
	alive liveness
}

// Dial returns a client of the master at a socket. It does not connect before the first call, and
// sends nothing to a socket that somebody else may have made; see checkOwner.
func Dial(socket string) *Client {
	name := "the master at " + socket
	return newClient(name, func(ctx context.Context) (net.Conn, error) {
		conn, err := dial(ctx, name, socket)
		if err != nil {
			return nil, err
		}
		if err := checkOwner(name, socket, conn.(*net.UnixConn)); err != nil {
			_ = conn.Close()
			return nil, err
		}
		return conn, nil
	})
}

// DialAs returns a client of a server of this process's own folder, by its name in errors. That of
// another user is sent nothing: the environment of this process may hold secrets.
func DialAs(name, socket string) *Client {
	return newClient(name, func(ctx context.Context) (net.Conn, error) {
		conn, err := dial(ctx, name, socket)
		if err != nil {
			return nil, err
		}
		uid, err := peercred.UID(conn.(*net.UnixConn))
		if err == nil && uid != os.Geteuid() {
			_ = conn.Close()
			return nil, &Error{Status: http.StatusForbidden, Text: fmt.Sprintf("%s belongs to another "+
				"user, whose number is %d", name, uid),
				Remedy: "use another folder, or be that user"}
		}
		return conn, nil
	})
}

func dial(ctx context.Context, name, socket string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil && ctx.Err() == nil {
		return nil, unreachable(name, socket, err)
	}
	return conn, err
}

// DialBy makes a client whose connections are opened by dial, such as from another machine. Place
// is the master's in errors.
func DialBy(place string, dial func(context.Context) (net.Conn, error)) *Client {
	return newClient("the master at "+place, dial)
}

func newClient(name string, dial func(context.Context) (net.Conn, error)) *Client {
	transport := &http.Transport{
		DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dial(ctx)
		},
	}
	c := &Client{name: name, dial: dial, http: http.Client{Transport: transport}}
	c.alive.probe = c.health
	c.alive.warn = func() {
		if c.Waiting != nil {
			c.Waiting(fmt.Sprintf("waiting for %s: no response for %v", c.name,
				warnAfter*checkInterval))
		}
	}
	c.alive.giveUp = func() (int, error) {
		after := cmp.Or(c.GiveUp, GiveUp)
		return int(after / checkInterval), c.silence(after)
	}
	return c
}

// Close drops idle connections.
func (c *Client) Close() {
	c.alive.close()
	c.http.CloseIdleConnections()
}

// get decodes the answer to a read.
func (c *Client) get(ctx context.Context, path string, query url.Values, into any) error {
	body, err := c.open(ctx, path, query)
	if err != nil {
		return err
	}
	defer body.Close()
	return decode(body, into)
}

// open sends a read and returns the body of its answer.
func (c *Client) open(ctx context.Context, path string, query url.Values) (io.ReadCloser, error) {
	var body io.ReadCloser
	begun := time.Now()
	transient := func(err error) bool {
		_, none := errors.AsType[*Unreachable](err)
		return errors.Is(err, ErrSilent) ||
			!none && isTransient(err) && time.Since(begun) < c.Repeat // it may be starting
	}
	err := retryTransient(ctx, c.OnDisconnect, transient, func(here func()) error {
		answer, err := c.once(ctx, http.MethodGet, path, query, nil, "")
		if err == nil {
			here()
			body = answer.Body
		}
		return err
	})
	return body, err
}

// write sends a write, under an idempotency key: it takes effect once, however often it is sent.
func (c *Client) write(ctx context.Context, method, path string, query url.Values,
	body, into any) error {
	text, err := encode(body)
	if err != nil {
		return err
	}
	_, err = c.writeAs(ctx, rand.Text(), method, path, query, text, into)
	return err
}

// encode returns the body of a request; nil: it has none.
func encode(body any) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	return json.Marshal(body)
}

// longestWritePause bounds the pauses between repetitions of a write; they begin with
// minPause.
const longestWritePause = time.Second

// writeAs repeats a write under its key while the master is away that had it, for as long as it may
// take to come back.
func (c *Client) writeAs(ctx context.Context, key, method, path string, query url.Values,
	body []byte, into any) (http.Header, error) {
	h, err := c.exchange(ctx, key, method, path, query, body, into)
	lost, away := errors.AsType[*Unreachable](err)
	if !away || !lost.Sent {
		return h, err
	}
	done := func() bool { // or refused
		_, answered := errors.AsType[*Error](err)
		return answered || err == nil
	}
	again, cancel := context.WithTimeout(ctx, cmp.Or(c.Repeat, time.Second))
	defer cancel()
	for pause := minPause; !done() && !errors.Is(err, ErrSilent); {
		select {
		case <-time.After(pause):
			pause = min(2*pause, longestWritePause)
		case <-again.Done():
			if ctx.Err() != nil {
				return h, context.Cause(ctx)
			}
			return h, unknownOutcome(lost, path)
		}
		h, err = c.exchange(ctx, key, method, path, query, body, into)
	}
	if !done() {
		return h, unknownOutcome(lost, path)
	}
	if e, refused := errors.AsType[*Error](err); refused {
		e.Text += " (an earlier attempt of this request may have succeeded before the master " +
			"went away)"
	}
	return h, err
}

// exchange sends a request and reads its answer; without a key it is a question.
func (c *Client) exchange(ctx context.Context, key, method, path string, query url.Values,
	body []byte, into any) (http.Header, error) {
	answer, err := c.once(ctx, method, path, query, body, key)
	if err != nil {
		return nil, err
	}
	return answer.Header, errors.Join(decode(answer.Body, into), answer.Body.Close())
}

func decode(body io.Reader, into any) error {
	body = &bounded{Reader: body, most: mostBytes(into)}
	if into == nil {
		_, err := io.Copy(io.Discard, body)
		return err
	}
	return json.NewDecoder(body).Decode(into)
}

func (c *Client) once(ctx context.Context, method, path string, query url.Values, body []byte,
	key string) (*http.Response, error) {
	r, err := c.request(ctx, method, path, query, body)
	if err != nil {
		return nil, err
	}
	if key != "" {
		r.Header.Set(KeyHeader, key)
	}
	return c.do(r)
}

// userKey is the context key of the user of a request.
type userKey struct{}

// WithUser returns a context for requests in the name of a user, instead of the client's User.
func WithUser(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, userKey{}, name)
}

func (c *Client) request(ctx context.Context, method, path string, query url.Values,
	body []byte) (*http.Request, error) {
	target := "http://master" + Root + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	user, named := ctx.Value(userKey{}).(string)
	if !named {
		user = c.User
	}
	if user != "" {
		r.Header.Set("User", user)
	}
	if c.Attachment != "" {
		r.Header.Set(AttachmentHeader, c.Attachment)
	}
	return r, nil
}

// longestError bounds what is read of a refusal, in bytes.
const longestError = 64 << 10

func (c *Client) do(r *http.Request) (*http.Response, error) {
	begun := c.alive.begin(r.Context())
	broke := func(err error) error { return c.broke(r.Context(), begun, err) }
	response, err := c.http.Do(r.WithContext(begun.ctx))
	if err != nil {
		defer begun.end()
		return nil, broke(errors.Unwrap(err))
	}
	c.alive.alive()
	response.Body = &answerBody{response.Body, begun, broke}
	if response.StatusCode < 300 {
		return response, nil
	}
	defer response.Body.Close()
	return nil, refusal(response)
}

// refusal is the error that an answer has.
func refusal(response *http.Response) error {
	e := &Error{Status: response.StatusCode}
	text, err := io.ReadAll(io.LimitReader(response.Body, longestError))
	if err != nil {
		return err
	}
	if json.Unmarshal(text, e) != nil || e.Text == "" {
		e.Text = "the master answers " + response.Status
	}
	e.body = text
	return e
}

// broke is the error of a request whose connection could not be made, or ended too early.
func (c *Client) broke(asked context.Context, r *request, err error) error {
	if e, ok := errors.AsType[*Unreachable](err); ok { // nobody to connect to
		return e
	}
	if cause := context.Cause(asked); cause != nil {
		return cause
	}
	if cause := context.Cause(r.ctx); cause != nil { // it is silent
		return cause
	}
	if r.reached() {
		return c.connectionLost(err)
	}
	return fmt.Errorf("ask %s: %w", c.name, err)
}
