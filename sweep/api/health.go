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

// Health returns what the API is and which warnings it has.
func (c *Client) Health(ctx context.Context) (h Health, err error) {
	return h, c.get(ctx, "/health", nil, &h)
}

// Ready returns whether submitted sweeps run now. A master that is not ready is not an error.
func (c *Client) Ready(ctx context.Context) (r Readiness, err error) {
	err = c.get(ctx, "/ready", nil, &r)
	e, refused := errors.AsType[*Error](err)
	if refused && e.Status == http.StatusServiceUnavailable &&
		json.Unmarshal(e.body, &r) == nil && len(r.Reasons) > 0 {
		return r, nil
	}
	return r, err
}

// Broker returns how the master reaches its broker.
func (c *Client) Broker(ctx context.Context) (b Broker, err error) {
	return b, c.get(ctx, "/broker", nil, &b)
}

// BrokerQueues is Broker with the depths of the queues, and how many messages were refused.
func (c *Client) BrokerQueues(ctx context.Context) (b Broker, err error) {
	return b, c.get(ctx, "/broker", url.Values{"queues": {"true"}}, &b)
}

// QueueDepth is how much waits in one queue of the broker.
type QueueDepth = queue.Depth

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
	Queues []QueueDepth `json:"queues"`
	// Refused is how many messages of workers were refused since the master started, as in the
	// metrics; null: as with Queues.
	Refused *int64 `json:"refused"`
}

// Health describes an API that is up.
type Health struct {
	Up      bool   `json:"up"`
	Program string `json:"program"` // version
	Version int    `json:"version"` // of the records and messages that this program understands
	// Warnings is what people should know: what workers tell and the store does not know, what
	// cannot be read in it, and names that two workers have.
	Warnings []Reason `json:"warnings"`
}

// Readiness says whether submitted sweeps run now.
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

// String returns the reason as text.
func (r Reason) String() string {
	if r.Since == nil {
		return r.Text
	}
	return r.Text + ", since " + r.Since.Local().Format(time.DateTime+" MST")
}
