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
	"time"
)

// Client asks a master over its Unix socket. It is safe for concurrent use. Its errors are *Error
// where the master refused, *Unreachable where none answers, *Undecided for a write that may have
// been done nevertheless, and those of the connection. Set its fields before the first call.
type Client struct {
	// User is the name that is recorded with what the client does; "": none.
	User string
	// Environ is what the tasks of sweeps inherit that the client begins or lets go on, as
	// NAME=value, of a run of one folder; nil: what its worker has.
	Environ []string
	// Waiting is told, from a goroutine of its own, that the master has not answered for some
	// seconds; nil: nobody is.
	Waiting func(text string)
	// GiveUp is after how long without a sign of life the master is given up, in whole seconds; 0:
	// the usual.
	GiveUp time.Duration
	// Repeat is for how long a write is repeated, under its key, when the master went away while it
	// had it: as long as it may take to start again; 0: a second.
	Repeat time.Duration
	// Away, when set, lets questions be asked again until a master that is silent answers: it is
	// called as in Following. Unset, they fail.
	Away func(why error) (end bool)

	name  string // "the master at SOCKET"
	http  http.Client
	alive liveness
}

// Dial makes a client of the master at a socket. Whether one is there shows with the first call.
func Dial(socket string) *Client { return DialAs("the master at "+socket, socket) }

// DialAs is as Dial, of whoever listens at a socket: errors have that name.
func DialAs(name, socket string) *Client {
	return newClient(name, func(ctx context.Context) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
		if err != nil && ctx.Err() == nil {
			return nil, unreachable(name, socket, err)
		}
		return conn, err
	})
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
	c := &Client{name: name, http: http.Client{Transport: transport}}
	c.alive.probe = c.health
	c.alive.waiting = func() {
		if c.Waiting != nil {
			c.Waiting(fmt.Sprintf("waiting for %s: no response for %v", c.name,
				tellAfter*lookEvery))
		}
	}
	c.alive.giveUp = func() (int, error) {
		after := cmp.Or(c.GiveUp, GiveUp)
		return int(after / lookEvery), c.silence(after)
	}
	return c
}

// Close drops idle connections.
func (c *Client) Close() {
	c.alive.close()
	c.http.CloseIdleConnections()
}

// get reads the answer to a question.
func (c *Client) get(ctx context.Context, path string, query url.Values, into any) error {
	body, err := c.open(ctx, path, query)
	if err != nil {
		return err
	}
	defer body.Close()
	return decode(body, into)
}

// open asks a question whose answer is read as it comes.
func (c *Client) open(ctx context.Context, path string, query url.Values) (io.ReadCloser, error) {
	var body io.ReadCloser
	silent := func(err error) bool { return errors.Is(err, ErrSilent) }
	err := persist(ctx, c.Away, silent, func(here func()) error {
		answer, err := c.once(ctx, http.MethodGet, path, query, nil, "")
		if err == nil {
			here()
			body = answer.Body
		}
		return err
	})
	return body, err
}

// write asks for something to be done: once, however often it has to be asked.
func (c *Client) write(ctx context.Context, method, path string, query url.Values,
	body, into any) error {
	text, err := encode(body)
	if err != nil {
		return err
	}
	_, err = c.writeAs(ctx, rand.Text(), method, path, query, text, into)
	return err
}

// encode is the body of a request; nil is none.
func encode(body any) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	return json.Marshal(body)
}

// longestWritePause bounds the pauses between repetitions of a write; they begin with
// shortestPause.
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
	for pause := shortestPause; !done() && !errors.Is(err, ErrSilent); {
		select {
		case <-time.After(pause):
			pause = min(2*pause, longestWritePause)
		case <-again.Done():
			if ctx.Err() != nil {
				return h, context.Cause(ctx)
			}
			return h, undecided(lost, path)
		}
		h, err = c.exchange(ctx, key, method, path, query, body, into)
	}
	if !done() {
		return h, undecided(lost, path)
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
	if c.User != "" {
		r.Header.Set("User", c.User)
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
	c.alive.lives()
	response.Body = &answerBody{response.Body, begun, broke}
	if response.StatusCode < 300 {
		return response, nil
	}
	defer response.Body.Close()
	e := &Error{Status: response.StatusCode}
	text, err := io.ReadAll(io.LimitReader(response.Body, longestError))
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(text, e) != nil || e.Text == "" {
		e.Text = "the master answers " + response.Status
	}
	e.body = text
	return nil, e
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
		return c.wentAway(err)
	}
	return fmt.Errorf("ask %s: %w", c.name, err)
}
