package api

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// AllDeadLetters stands for every dead letter where an ID is asked for.
const AllDeadLetters = ""

// DeadLetters are messages that could not be delivered.
type DeadLetters struct {
	Count   int          `json:"count"`
	Partly  bool         `json:"partly"`  // false: all are known
	Entries []DeadLetter `json:"letters"` // the newest first
}

// DeadLetter is one of them.
type DeadLetter struct {
	ID      string     `json:"id"`
	From    string     `json:"from"`   // the queue that it was in
	Reason  string     `json:"reason"` // why it is dead
	Time    *time.Time `json:"time"`   // when it died, UTC; null: not known
	Bytes   int        `json:"bytes"`
	Preview string     `json:"preview"` // how it begins; control characters are visible
}

// DeadLetterOutcome is what became of dead letters.
type DeadLetterOutcome struct {
	Requeued int `json:"requeued"`
	Dropped  int `json:"dropped"`
	// stayed: the queue that they were in is gone, or only their beginning was kept
	Remaining int `json:"left"`
}

// Dead lists the newest dead letters; 0: as many as are usual.
func (c *Client) Dead(ctx context.Context, limit int) (d DeadLetters, err error) {
	q := url.Values{}
	setNumber(q, "limit", limit)
	return d, c.get(ctx, "/broker/dead", q, &d)
}

// deadLetterPath is the path of one dead letter, or of all.
func deadLetterPath(id string) string {
	if id == AllDeadLetters {
		return "/broker/dead"
	}
	return "/broker/dead/" + url.PathEscape(id)
}

// Requeue puts a dead letter, or AllDeadLetters, back to where it was to be read.
func (c *Client) Requeue(ctx context.Context, id string) (r DeadLetterOutcome, err error) {
	return r, c.write(ctx, http.MethodPost, deadLetterPath(id)+"/requeue", nil, nil, &r)
}

// Drop forgets a dead letter, or AllDeadLetters.
func (c *Client) Drop(ctx context.Context, id string) (r DeadLetterOutcome, err error) {
	return r, c.write(ctx, http.MethodDelete, deadLetterPath(id), nil, nil, &r)
}
