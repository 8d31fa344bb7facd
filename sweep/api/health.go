package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"mlframework/sweep/queue"
)

// Health asks what answers.
func (c *Client) Health(ctx context.Context) (h Health, err error) {
	return h, c.get(ctx, "/health", nil, &h)
}

// Ready asks whether a sweep that is submitted would run. That it would not is no error.
func (c *Client) Ready(ctx context.Context) (r Readiness, err error) {
	err = c.get(ctx, "/ready", nil, &r)
	e, refused := errors.AsType[*Error](err)
	if refused && e.Status == http.StatusServiceUnavailable &&
		json.Unmarshal(e.body, &r) == nil && len(r.Reasons) > 0 {
		return r, nil
	}
	return r, err
}

// Broker asks how the queue is reached.
func (c *Client) Broker(ctx context.Context) (b Broker, err error) {
	return b, c.get(ctx, "/broker", nil, &b)
}

// BrokerQueues is as Broker, with what waits in the queues.
func (c *Client) BrokerQueues(ctx context.Context) (b Broker, err error) {
	return b, c.get(ctx, "/broker", url.Values{"queues": {"true"}}, &b)
}

// Broker is how the queue is reached.
type Broker struct {
	Unreachable bool `json:"away"`
	// when it was reached or went away, UTC; null: not known
	Since   *time.Time `json:"since"`
	Reason  *string    `json:"reason"`  // why it is away
	Blocked *string    `json:"blocked"` // it takes nothing for now, and why
	Program *string    `json:"program"` // name and version
	// the folder on this machine in which workers find files; null: there is none
	Revisions *string `json:"revisions"`
	// what waits in each; null: not asked for, or it cannot be asked now
	Queues []queue.Depth `json:"queues"`
}

// Level is a number that grows with what a client of the same program may send, so that those of
// before refuse it. It tells programs apart whose versions are not stamped; 0 is of before it was
// told.
const Level = 1

// Health says that the API is up, and what it is.
type Health struct {
	Up      bool   `json:"up"`
	Program string `json:"program"` // version
	Level   int    `json:"level"`   // of the API: the Level of the program
	Version int    `json:"version"` // of the records and messages that this program understands
	// Warnings is what people should know: what workers tell and the store does not know, what
	// cannot be read in it, and names that two workers have.
	Warnings []Reason `json:"warnings"`
}

// Readiness tells whether a sweep that is submitted would run.
type Readiness struct {
	Ready   bool     `json:"ready"`
	Reasons []Reason `json:"reasons"` // why not
}

// Reason is one thing that keeps sweeps from running.
type Reason struct {
	What  string     `json:"what"`  // "broker" or "store"
	Text  string     `json:"text"`  // cause and remedy
	Since *time.Time `json:"since"` // UTC; null: not known
}

// String is the reason as a person reads it.
func (r Reason) String() string {
	if r.Since == nil {
		return r.Text
	}
	return r.Text + ", since " + r.Since.Local().Format(time.DateTime)
}
