package api

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"
)

// Client asks a master over its Unix socket. It is safe for concurrent use. Its errors are *Error where the master
// refused, *Unreachable where there is none, and those of the connection.
type Client struct {
	socket string
	http   http.Client
	// User is the name that is recorded with what the client does; "": none. Set it before the first call.
	User string
}

// Dial makes a client of the master at a socket. Whether one is there shows with the first call.
func Dial(socket string) *Client {
	return DialBy(socket, func(ctx context.Context) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
		if err != nil && ctx.Err() == nil {
			return nil, unreachable(socket, err)
		}
		return conn, err
	})
}

// DialBy makes a client whose connections are opened by dial, such as from another machine. The name is the master's in
// errors.
func DialBy(name string, dial func(context.Context) (net.Conn, error)) *Client {
	transport := &http.Transport{DisableCompression: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dial(ctx)
	}}
	return &Client{socket: name, http: http.Client{Transport: transport}}
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Repetitions of a write whose connection broke before the answer came.
const (
	tries    = 3
	tryAgain = 100 * time.Millisecond
)

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
	answer, err := c.once(ctx, http.MethodGet, path, query, nil, "")
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

// write asks for something to be done: once, however often it has to be asked.
func (c *Client) write(ctx context.Context, method, path string, query url.Values, body, into any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	_, err := c.writeAs(ctx, rand.Text(), method, path, query, text, into)
	return err
}

func (c *Client) writeAs(ctx context.Context, key, method, path string, query url.Values, body []byte, into any) (h http.Header, err error) {
	for n := range tries {
		var answer *http.Response
		if answer, err = c.once(ctx, method, path, query, body, key); err == nil {
			h = answer.Header
			err = errors.Join(decode(answer.Body, into), answer.Body.Close())
		}
		if !broken(err) || n == tries-1 {
			break
		}
		select {
		case <-time.After(tryAgain << n):
		case <-ctx.Done():
			return h, context.Cause(ctx)
		}
	}
	return h, err
}

// broken tells that a connection ended before all of an answer had come.
func broken(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func decode(body io.Reader, into any) error {
	if into == nil {
		_, err := io.Copy(io.Discard, body)
		return err
	}
	return json.NewDecoder(body).Decode(into)
}

func (c *Client) once(ctx context.Context, method, path string, query url.Values, body []byte, key string) (*http.Response, error) {
	r, err := c.request(ctx, method, path, query, body)
	if err != nil {
		return nil, err
	}
	if key != "" {
		r.Header.Set(keyHeader, key)
	}
	return c.do(r)
}

func (c *Client) request(ctx context.Context, method, path string, query url.Values, body []byte) (*http.Request, error) {
	target := "http://master" + root + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if c.User != "" {
		r.Header.Set("User", c.User)
	}
	return r, nil
}

// longestError bounds what is read of a refusal, in bytes.
const longestError = 64 << 10

func (c *Client) do(r *http.Request) (*http.Response, error) {
	response, err := c.http.Do(r)
	if err != nil {
		if e, ok := errors.AsType[*Unreachable](err); ok {
			return nil, e
		}
		if cause := context.Cause(r.Context()); cause != nil {
			return nil, cause
		}
		return nil, fmt.Errorf("ask the master at %s: %w", c.socket, errors.Unwrap(err))
	}
	if response.StatusCode < 300 {
		return response, nil
	}
	defer response.Body.Close()
	e := &Error{Status: response.StatusCode}
	text, _ := io.ReadAll(io.LimitReader(response.Body, longestError)) // what is missing is not JSON
	if json.Unmarshal(text, e) != nil || e.Text == "" {
		e.Text = "the master answers " + response.Status
	}
	e.body = text
	return nil, e
}
