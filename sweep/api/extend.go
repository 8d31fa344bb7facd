package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"mlframework/sweep/core"
	"mlframework/sweep/space"
)

// Extension is what a sweep is extended by.
type Extension struct {
	Space *space.Space `json:"space"` // as the parameters are now: what the sweep has is left out
	// Overrides are those of the command line to the parameters file of which Space is; nil: those
	// that the sweep has.
	Overrides *space.Change `json:"overrides,omitempty"`
	Continuation
}

// Extend gives a sweep the points of a space that its parameters did not describe so far, and lets it go on. With none
// nothing changes.
func (c *Client) Extend(ctx context.Context, id string, e Extension, f Detail) (StartedSweep,
	error) {
	e.Environ = c.Environ
	return c.begin(ctx, "", sweepPath(id)+"/extend", e, f)
}

// Prioritize changes the priority of a sweep: those of a higher one go first.
func (c *Client) Prioritize(ctx context.Context, id string, priority int) (s core.Summary, err error) {
	return s, c.write(ctx, http.MethodPost, sweepPath(id)+"/priority", url.Values{"n": {strconv.Itoa(priority)}}, nil, &s)
}

// Restart lets a worker's process end, so that what supervises it starts it again, when what runs has ended; with now that
// is stopped, uncharged.
func (c *Client) Restart(ctx context.Context, worker string, now bool) (w core.Worker, err error) {
	q := url.Values{}
	setFlag(q, "now", now)
	return w, c.write(ctx, http.MethodPost, workerPath(worker)+"/restart", q, nil, &w)
}
