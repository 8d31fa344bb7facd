package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"mlframework/sweep/core"
)

// Workers lists the workers by name.
func (c *Client) Workers(ctx context.Context) ([]core.Worker, error) {
	var list WorkerList
	err := c.get(ctx, "/workers", nil, &list)
	return list.Workers, err
}

func workerPath(name string) string { return "/workers/" + url.PathEscape(name) }

// Drain lets a worker finish what runs and take nothing new; off undoes it.
func (c *Client) Drain(ctx context.Context, worker string, off bool) (w core.Worker, err error) {
	return c.DrainFor(ctx, "", worker, off)
}

// DrainFor is Drain for a reason, as core.ForReplacement: a person's drain stays.
func (c *Client) DrainFor(ctx context.Context, reason, worker string, off bool,
) (w core.Worker, err error) {
	verb, q := "/drain", url.Values{}
	if off {
		verb = "/resume"
	}
	if reason != "" {
		q.Set("for", reason)
	}
	return w, c.write(ctx, http.MethodPost, workerPath(worker)+verb, q, nil, &w)
}

// Resize changes how many attempts a worker runs at a time; 0 is what it was started with.
func (c *Client) Resize(ctx context.Context, worker string, slots int) (w core.Worker, err error) {
	return w, c.write(ctx, http.MethodPost, workerPath(worker)+"/slots",
		url.Values{"n": {strconv.Itoa(slots)}}, nil, &w)
}

// Restart lets a worker's process end, so that what supervises it starts it again, when what runs
// has ended; with now that is stopped, uncharged.
func (c *Client) Restart(ctx context.Context, worker string, now bool) (w core.Worker, err error) {
	q := url.Values{}
	setFlag(q, "now", now)
	return w, c.write(ctx, http.MethodPost, workerPath(worker)+"/restart", q, nil, &w)
}

// Forget drops a worker that is away, and its queue.
func (c *Client) Forget(ctx context.Context, worker string) error {
	return c.write(ctx, http.MethodDelete, workerPath(worker), nil, nil, nil)
}

// WorkerList answers a question for workers.
type WorkerList struct {
	Workers []core.Worker `json:"workers"` // by name
}
