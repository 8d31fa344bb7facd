package master

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"mlframework/sweep"
)

// Client talks to a master's API over its Unix socket. It is safe for concurrent use.
type Client struct{ http http.Client }

// Refused is what the API answered instead of doing what was asked.
type Refused struct {
	Status int // of HTTP
	Text   string
}

func (e *Refused) Error() string { return e.Text }

// Dial makes a client of the master at a socket. Whether one is there shows with the first call.
func Dial(socket string) *Client {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	return &Client{http.Client{Transport: transport}}
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Cancel ends a sweep.
func (c *Client) Cancel(ctx context.Context, sweep string) (sweep.Summary, error) {
	return c.post(ctx, "/v1/sweeps/"+url.PathEscape(sweep)+"/cancel")
}

// CancelTask ends one task.
func (c *Client) CancelTask(ctx context.Context, sweep string, index int64) (sweep.Summary, error) {
	return c.post(ctx, fmt.Sprintf("/v1/sweeps/%s/tasks/%d/cancel", url.PathEscape(sweep), index))
}

// Pause hands out nothing more of a sweep; with stop what runs is stopped too.
func (c *Client) Pause(ctx context.Context, sweep string, stop bool) (sweep.Summary, error) {
	return c.post(ctx, fmt.Sprintf("/v1/sweeps/%s/pause?stop=%t", url.PathEscape(sweep), stop))
}

// Follow calls each with every update of a sweep until it is idle, the master stops, or each returns an error.
func (c *Client) Follow(ctx context.Context, sweep string, output bool, each func(Update) error) error {
	body, err := c.do(ctx, http.MethodGet, fmt.Sprintf("/v1/sweeps/%s/follow?output=%t", url.PathEscape(sweep), output))
	if err != nil {
		return err
	}
	defer body.Close()
	lines := json.NewDecoder(body)
	for {
		var u Update
		if err := lines.Decode(&u); err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := each(u); err != nil {
			return err
		}
	}
}

func (c *Client) post(ctx context.Context, path string) (s sweep.Summary, err error) {
	body, err := c.do(ctx, http.MethodPost, path)
	if err != nil {
		return s, err
	}
	defer body.Close()
	return s, json.NewDecoder(body).Decode(&s)
}

func (c *Client) do(ctx context.Context, method, path string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://master"+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK {
		return response.Body, nil
	}
	defer response.Body.Close()
	var r refusal
	if err := json.NewDecoder(io.LimitReader(response.Body, 1<<16)).Decode(&r); err != nil {
		r.Error = response.Status
	}
	return nil, &Refused{response.StatusCode, r.Error}
}
