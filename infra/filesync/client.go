package filesync

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// An Agent is asked over a connection: *agent.Client. An answer is a good one; the error of another
// is *agent.Error.
type Agent interface {
	Do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error)
}

// A Client brings files to the root of a cluster, and outputs back. It may be used concurrently.
// Where the host refuses, errors are *agent.Error.
type Client struct {
	agent Agent
	root  string
	id    Identity
}

// NewClient returns a client for a root on the agent's host; "" where FetchOptions.Own is used.
func NewClient(a Agent, root string, id Identity) *Client {
	if id.Who == "" {
		id.Who = id.Owner
	}
	return &Client{a, root, id}
}

// Revisions returns the releases of the root.
func (c *Client) Revisions(ctx context.Context) (all []string, err error) {
	answer, err := c.agent.Do(ctx, http.MethodGet, "/releases?"+c.query().Encode(), nil)
	if err != nil {
		return nil, failed(ctx, "list the revisions", err)
	}
	defer answer.Body.Close()
	err = said(answer).Decode(&all)
	return all, failed(ctx, "list the revisions", err)
}

// Prune removes the releases that are neither current nor kept, and that no push asked for during
// the time older: who has just pushed one may be about to submit a sweep. It returns what it
// removed.
func (c *Client) Prune(
	ctx context.Context, keep []string, older time.Duration,
) (removed []Revision, err error) {
	answer, err := c.ask(ctx, http.MethodDelete, "/releases", Prune{c.id, c.root, keep, older})
	if err == nil {
		defer answer.Body.Close()
		err = said(answer).Decode(&removed)
	}
	return removed, failed(ctx, "remove old revisions", err)
}

// query says what a request without a body of JSON is about.
func (c *Client) query() url.Values {
	return url.Values{"root": {c.root}, "owner": {c.id.Owner}, "cluster": {c.id.Cluster},
		"who": {c.id.Who}}
}

// maxAnswer bounds an answer of JSON, in bytes: the list of what a host lacks of a release is the
// longest.
const maxAnswer = 64 << 20

// said reads an answer of JSON.
func said(answer *http.Response) *json.Decoder {
	return json.NewDecoder(io.LimitReader(answer.Body, maxAnswer))
}

// ask makes a request with a body of JSON.
func (c *Client) ask(
	ctx context.Context, method, path string, body any,
) (*http.Response, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return c.agent.Do(ctx, method, path, bytes.NewReader(text))
}

// failed returns an error that says what failed, if something did.
func failed(ctx context.Context, what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, broken(ctx, err))
}

// broken returns why a request failed: the cause of its context, or that the connection has ended.
func broken(ctx context.Context, err error) error {
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the connection to the host broke off: %w", io.ErrUnexpectedEOF)
	}
	return err
}
