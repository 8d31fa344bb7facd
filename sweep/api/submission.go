package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"net/http"
	"net/url"

	"mlframework/sweep/core"
	"mlframework/sweep/secret"
	"mlframework/sweep/space"
)

// Submission is a sweep to be run. How many tasks it has follows from its record.
type Submission struct {
	Record core.Record `json:"record"`
	Code   string      `json:"code"` // of the record's revision
	// the number in the sweep's id is at least this
	MinNumber int64 `json:"min_number,omitempty"`
	// Same are further revisions of the same code, as known to a client that has their files. Only
	// Missing asks for them.
	Same []string `json:"same,omitempty"`
	// Secrets are the values of the secrets that the recipe names. They are kept apart from
	// everything else, until the sweep ends.
	Secrets secret.Values `json:"secrets,omitempty"`
	// Environ is what its tasks inherit, as NAME=value, in place of what the worker of a run of one
	// folder does. Other masters refuse it.
	Environ Environ `json:"environ,omitempty"`
}

// StartedSweep is a sweep that has begun, or gone on.
type StartedSweep struct {
	core.Summary
	// for FollowOptions.After: what happens from the beginning on; "" when it was not asked for
	Events string
}

// Total is how many tasks a sweep of a record has.
func Total(r core.Record) int64 {
	switch {
	case len(r.Workers) > 0:
		return int64(len(r.Workers))
	case len(r.Ranges) > 0:
		return r.Ranges.Len()
	case r.Space == nil:
		return 0
	}
	return r.Space.Len()
}

// Continuation is what a sweep goes on with. The zero value keeps its own.
type Continuation struct {
	Revision string `json:"revision,omitempty"` // "": the sweep's own
	Code     string `json:"code,omitempty"`     // of Revision
	// Settings are those of attempts from now on; nil: the sweep's own.
	Settings *core.Settings `json:"settings,omitempty"`
	// Secrets are needed where the values of the sweep's secrets are gone; else they are not taken.
	Secrets secret.Values `json:"secrets,omitempty"`
	Environ Environ       `json:"environ,omitempty"` // as in Submission, from now on
	// KeepGoing does not pause the sweep again because tasks fail alike.
	KeepGoing bool `json:"keep_going,omitempty"`
}

// IsZero reports whether a sweep goes on with what it has.
func (c Continuation) IsZero() bool {
	return c.Revision == "" && c.Code == "" && c.Settings == nil && len(c.Secrets) == 0 &&
		len(c.Environ) == 0 && !c.KeepGoing
}

// ResumeRequest is how a sweep goes on.
type ResumeRequest struct {
	Continuation
	// Indexes are the tasks, of Retry; none: all that ended other than well.
	Indexes []int64 `json:"indexes,omitempty"`
	// Selection chooses them instead, among those that ended other than well.
	Selection
	// Fresh starts the tasks of Retry in new folders. The folders of earlier attempts are kept
	// beside them.
	Fresh bool `json:"fresh,omitempty"`
}

// Extension is what a sweep is extended by.
type Extension struct {
	Space *space.Space `json:"space"` // as the parameters are now: what the sweep has is left out
	// Overrides are those of the command line to the parameters file that the sweep has from now
	// on; nil: those that it has.
	Overrides *space.Change `json:"overrides,omitempty"`
	Continuation
}

// Submit keeps a sweep and begins it, for a client that is about to follow it in some detail; "":
// it is not. When it returns, the sweep survives any crash of the master. A submission that is
// repeated under the same key makes one sweep; "" is a new key.
func (c *Client) Submit(ctx context.Context, s Submission, key string, f Detail) (StartedSweep,
	error) {
	s.Environ = c.Environ
	return c.begin(ctx, key, "/sweeps", s, f)
}

func (c *Client) begin(ctx context.Context, key, path string, body any, f Detail) (b StartedSweep,
	err error) {
	text, err := encode(body)
	if err != nil {
		return b, err
	}
	q := url.Values{}
	set(q, "follow", string(f))
	h, err := c.writeAs(ctx, cmp.Or(key, rand.Text()), http.MethodPost, path, q, text, &b.Summary)
	b.Events = h.Get(EventHeader)
	return b, err
}

// Resume hands out the tasks of a paused sweep again.
func (c *Client) Resume(ctx context.Context, id string, g ResumeRequest, f Detail) (StartedSweep,
	error) {
	g.Environ = c.Environ
	return c.begin(ctx, "", sweepPath(id)+"/resume", g, f)
}

// Retry makes tasks pending again that ended other than well.
func (c *Client) Retry(ctx context.Context, id string, g ResumeRequest, f Detail) (StartedSweep,
	error) {
	g.Environ = c.Environ
	return c.begin(ctx, "", sweepPath(id)+"/retry", g, f)
}

// Extend gives a sweep the points of a space that its parameters did not describe so far, and lets
// it go on. With none nothing changes.
func (c *Client) Extend(ctx context.Context, id string, e Extension, f Detail) (StartedSweep,
	error) {
	e.Environ = c.Environ
	return c.begin(ctx, "", sweepPath(id)+"/extend", e, f)
}
